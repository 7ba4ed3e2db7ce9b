"""S7, selection: clusters of equal results, a shortcut where most agree, else a judge.

Score = confidence x win rate (from the authors' released code; the formula is missing in our copy
of the paper). Ours: clusters are multisets, and each pair is judged with positions swapped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log10

from modularsql.asking.prompts import as_data
from modularsql.asking.results import result_text
from modularsql.errors import ModelError
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.registry import Analysis, issues
from modularsql.pipeline.clusters import clusters
from modularsql.pipeline.context import asked
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.prompting import filled
from modularsql.pipeline.reading import read_tree
from modularsql.pipeline.replies import read_choice
from modularsql.pipeline.state import Candidate, Cluster, State
from modularsql.records import Severity
from modularsql.rows import Rows


def select(state: State, deps: Deps) -> State:
    """The candidate to answer with, and how sure the vote makes us of it."""
    pool = tuple(replace(c, findings=findings_of(c, deps)) for c in state.candidates)
    found = clusters(pool, deps.catalog.dialect, deps.settings.cluster_by)
    state = replace(state, candidates=pool, clusters=found)
    if not pool:
        return state
    if not found:
        return replace(
            state,
            chosen=best(range(len(pool)), pool),
            confidence=0.0,
            decisions=("no candidate runs",),
        )
    first = found[0]
    if (
        first.confidence >= deps.settings.confidence
        or len(found) == 1
        or not deps.has("selection.judge")
    ):
        said = f"{len(found)} results; the largest has {first.confidence:.2f} of the samples"
        return _chosen(state, first, (said,))
    return _judged(state, deps)


def _chosen(state: State, cluster: Cluster, said: tuple[str, ...]) -> State:
    chosen = best(cluster.members, state.candidates)
    return replace(state, chosen=chosen, confidence=cluster.confidence, decisions=said)


def best(members: Sequence[int], pool: Sequence[Candidate]) -> int:
    """The fewest findings, then what runs much faster, has the most votes, is the shortest."""

    def rank(place: int) -> tuple[int, ...]:
        one = pool[place]
        return (one.findings or 0, _slowness(one), -one.votes, len(one.sql), place)

    return min(members, key=rank)


def _slowness(candidate: Candidate) -> int:
    """The power of ten of its seconds; times under a tenth of a second are alike, being noise."""
    ms = candidate.outcome.ms if isinstance(candidate.outcome, Rows) else 0.0
    return round(log10(max(ms, 100.0)))


def _judged(state: State, deps: Deps) -> State:
    top = list(state.clusters[: deps.settings.top_clusters])
    wins = [0.0] * len(top)
    pairs = list(combinations(range(len(top)), 2))
    turns = [(a, b) for pair in pairs for a, b in (pair, pair[::-1])]
    ballots = iter(deps.each(lambda turn: _asked(turn, top, state, deps), turns))
    results = [
        _counted(straight, turned) for straight, turned in zip(ballots, ballots, strict=True)
    ]
    said = [f"{len(state.clusters)} results; none has {deps.settings.confidence:g} of the samples"]
    for (a, b), (won, how) in zip(pairs, results, strict=True):
        wins[a] += won
        wins[b] += 1 - won
        said.append(f"result {a + 1} against {b + 1}: {how}")
    scored = [replace(c, win_rate=w / (len(top) - 1)) for c, w in zip(top, wins, strict=True)]
    best = max(scored, key=lambda c: (c.score, c.confidence))
    said.append(f"result {scored.index(best) + 1} has the best score, {best.score:.2f}")
    state = replace(state, clusters=(*scored, *state.clusters[len(top) :]))
    return _chosen(state, best, tuple(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ballot:
    """What the judge named, `A` or `B`, sample by sample; `failure` is why it could not."""

    named: tuple[str | None, ...] = ()
    failure: str = ""


def _counted(straight: _Ballot, turned: _Ballot) -> tuple[float, str]:
    """1 where the first wins the majority of the votes, else 0; and the votes in words."""
    if failure := straight.failure or turned.failure:
        return 1.0, f"the model failed ({failure}), the larger one is kept"
    for_one = straight.named.count("A") + turned.named.count("B")
    for_other = straight.named.count("B") + turned.named.count("A")
    # Who does not choose leaves it to the consensus.
    return (1.0 if for_one >= for_other else 0.0), f"{for_one} votes to {for_other}"


def _asked(turn: tuple[int, int], top: Sequence[Cluster], state: State, deps: Deps) -> _Ballot:
    """The samples in which the first of the two stands as query A: half of the votes, the odd one
    where that is the larger cluster."""
    one, other = (top[place] for place in turn)
    count = (deps.settings.votes + (turn[0] < turn[1])) // 2
    if not count:
        return _Ballot()
    a, b = (state.candidates[best(c.members, state.candidates)] for c in (one, other))
    values = deps.settings.show_values == "yes"
    prompt = filled(
        "judge",
        **asked(state, deps, state.schema),
        sql_a=as_data(a.sql, 10_000),
        sql_b=as_data(b.sql, 10_000),
        result_a=as_data(result_text(a.outcome, values), 1000),
        result_b=as_data(result_text(b.outcome, values), 1000),
        share_a=f"{one.confidence:.0%}",
        share_b=f"{other.confidence:.0%}",
    )
    try:
        replies = deps.sample(prompt, "selection", count, 512)
    except ModelError as error:
        return _Ballot(failure=error.message)
    return _Ballot(named=tuple(map(read_choice, replies)))


def findings_of(candidate: Candidate, deps: Deps) -> int:
    """How many warnings and errors the grain analysis has for a candidate; many if it failed."""
    if not isinstance(candidate.outcome, Rows):
        return 100
    tree = read_tree(candidate.sql, deps.catalog.dialect, deps.settings.max_parse_chars)
    query = infer(tree, deps.catalog) if tree is not None else None
    if query is None:
        return 0
    found = issues(Analysis(query=query, catalog=deps.catalog))
    return sum(issue.severity != Severity.INFO for issue in found)
