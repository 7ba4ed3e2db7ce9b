"""S5, generation: three ways to write the query, sampled side by side (N-version programming).

Each is one prompt that has the model reason and return nothing but SQL. Samples that come to the
same text are one candidate with so many votes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from modularsql.errors import ModelError
from modularsql.pipeline.clusters import clusters
from modularsql.pipeline.context import asked, shots
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.prompting import filled, tokens
from modularsql.pipeline.replies import read_refusal, read_sql
from modularsql.pipeline.same_sql import same_sql
from modularsql.pipeline.state import Candidate, State
from modularsql.ports import Message

GENERATORS = ("skeleton", "icl", "divide")
"""Prompts by the names that `--without generation.NAME` takes: planning the skeleton first, from
solved examples, and from sub-questions."""

NO_QUERY = "no reply held a query"
_QUOTED = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """Replies so far, by generator; `errors` by generator where its model failed."""

    replies: Mapping[str, tuple[str, ...]]
    errors: Mapping[str, ModelError]
    saved: int = 0


def generate(state: State, deps: Deps) -> State:
    """The pool of candidates, distinct as trees, in the order they were first written."""
    names = [name for name in GENERATORS if deps.has(f"generation.{name}")]
    prompts = _prompts(names, state, deps)
    said = _adaptively(prompts, deps) if deps.settings.adaptive == "on" else _at_once(prompts, deps)
    if not any(said.replies.values()) and said.errors:
        raise next(iter(said.errors.values()))
    drafts = _drafts(said, deps)
    pool = pooled(drafts, deps.catalog.dialect)
    refused = [w for texts in said.replies.values() for t in texts if (w := read_refusal(t))]
    unanswerable = None
    if not pool:
        most = Counter(refused).most_common(1)
        unanswerable = most[0][0] if most else NO_QUERY
    texts = [text for texts in said.replies.values() for text in texts]
    instead = _instead(texts) if unanswerable == NO_QUERY else ""
    decisions = (*_told(names, said, drafts), f"{len(pool)} different candidates", instead)
    return replace(
        state,
        candidates=pool,
        unanswerable=unanswerable,
        instead=instead,
        decisions=tuple(filter(None, decisions)),
    )


def _instead(texts: Sequence[str]) -> str:
    """What came in place of a query: whether model or question is to blame."""
    first = " ".join(next(filter(str.strip, texts), "").split())
    if not first:
        return "every reply was empty; where the model thinks first, raise thinking_tokens"
    return f"the first reply begins: {first[:_QUOTED]}{'…' if len(first) > _QUOTED else ''}"


def _prompts(names: list[str], state: State, deps: Deps) -> dict[str, tuple[Message, ...]]:
    context = asked(state, deps, state.schema)
    more = {"icl": {"examples": shots(state, deps)}}
    return {name: filled(name, **context, **more.get(name, {})) for name in names}


def _at_once(prompts: Mapping[str, tuple[Message, ...]], deps: Deps) -> _Said:
    return _round(prompts, deps.settings.samples, deps)


def _adaptively(prompts: Mapping[str, tuple[Message, ...]], deps: Deps) -> _Said:
    """One sample of each generator at a time, until no later one could change the shortcut.

    Curtailed sampling: it ends when one result has the votes that `confidence` asks of all the
    samples there would be, which is the outcome that sampling on would have had.
    """
    total = deps.settings.samples * len(prompts)
    enough = deps.settings.confidence * total
    said = _Said(replies=dict.fromkeys(prompts, ()), errors={})
    for done in range(1, deps.settings.samples + 1):
        more = _round(prompts, 1, deps)
        replies = {name: said.replies[name] + more.replies[name] for name in prompts}
        said = _Said(replies=replies, errors=more.errors, saved=total - done * len(prompts))
        if done < deps.settings.samples and _leading(said, deps) >= enough:
            break
    return said


def _leading(said: _Said, deps: Deps) -> float:
    """The votes of the result that most samples come to."""
    pool = pooled(_drafts(said, deps), deps.catalog.dialect)
    run = deps.each(
        lambda c: replace(c, outcome=deps.engine.execute(c.sql, limits=deps.settings.limits())),
        pool,
    )
    found = clusters(run, deps.catalog.dialect, deps.settings.cluster_by)
    return sum(run[i].votes for i in found[0].members) if found else 0


def _round(prompts: Mapping[str, tuple[Message, ...]], samples: int, deps: Deps) -> _Said:
    """So many samples of each generator, all generators at the same time."""

    def one(name: str) -> tuple[str, ...] | ModelError:
        try:
            return deps.sample(prompts[name], f"generation.{name}", samples)
        except ModelError as error:
            return error

    found = dict(zip(prompts, deps.each(one, list(prompts)), strict=True))
    return _Said(
        replies={n: () if isinstance(f, ModelError) else f for n, f in found.items()},
        errors={n: f for n, f in found.items() if isinstance(f, ModelError)},
    )


def _drafts(said: _Said, deps: Deps) -> list[tuple[str, str]]:
    return [
        (name, sql)
        for name, texts in said.replies.items()
        for text in texts
        if (sql := read_sql(text, deps.catalog.dialect))
    ]


def _told(names: list[str], said: _Said, drafts: list[tuple[str, str]]) -> Iterator[str]:
    written = Counter(name for name, _ in drafts)
    for name in names:
        if name in said.errors:
            yield f"{name}: the model failed: {said.errors[name].message}"
        else:
            yield f"{name}: {written[name]} queries in {len(said.replies[name])} samples"
    if said.saved:
        texts = [text for replies in said.replies.values() for text in replies]
        spared = said.saved * sum(map(tokens, texts)) // max(len(texts), 1)
        yield (
            f"the vote was decided: {said.saved} samples were not taken, which saved about "
            f"{spared:,} tokens of replies"
        )


def pooled(drafts: Iterable[tuple[str, str]], dialect: str) -> tuple[Candidate, ...]:
    """(generator, SQL) pairs as candidates: one for each tree, with its votes and generators."""
    found: dict[str, Candidate] = {}
    for generator, sql in drafts:
        key = same_sql(sql, dialect)
        known = found.get(key)
        found[key] = (
            Candidate(sql=sql, generators=(generator,))
            if known is None
            else replace(
                known,
                votes=known.votes + 1,
                generators=tuple(dict.fromkeys((*known.generators, generator))),
            )
        )
    return tuple(found.values())
