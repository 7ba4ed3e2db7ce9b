"""Every order of rescue and repair over candidate pools, as docs/rescue.md shows it.

python -m benchmarks.rescue > docs/rescue.md
python -m benchmarks.rescue --model local:FILE.gguf --most 10 > docs/rescue-local.md

With `--model` a real judge takes the place of the two that are none, on the sampled pools and on
flagged questions alone: `--most` of each set, evenly spread.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from statistics import median

from benchmarks.corpus import require
from benchmarks.pool_sets import Case, StandIn, pool_sets, sampled_sets
from modularsql import Guard, Settings, connect
from modularsql.catalog import Catalog
from modularsql.evaluation.pair import Pair
from modularsql.evaluation.statistics import compare_paired
from modularsql.guard.policy import ORDERS
from modularsql.guard.probe import trigger_of
from modularsql.llm.connect import connect_model
from modularsql.ports import Engine, Model, Outcome
from modularsql.records import Answer, Cost, Limits, Params, Rescue
from modularsql.rows import Rows

SETTINGS = Settings(timeout=30.0, max_rows=200_000)
_NO_INDEX = ("no_valid_index", "no_reply")


class Remembering:
    """An `Engine` that runs each query once: all orders share what a query returned."""

    def __init__(self, path: Path) -> None:
        self._engine: Engine = connect(path, SETTINGS)
        self._known: dict[str, Outcome] = {}
        self._catalog = self._engine.catalog()
        self.name, self.dialect = self._engine.name, self._engine.dialect

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """See `ports.Engine`."""
        if sql not in self._known:
            self._known[sql] = self._engine.execute(sql, params, limits=SETTINGS.limits())
        return self._known[sql]

    def catalog(self) -> Catalog:
        """See `ports.Engine`."""
        return self._catalog

    def compares_bytes(self) -> bool:
        """See `ports.Engine`."""
        return self._engine.compares_bytes()

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """An order with its judge, as one row of a table."""

    order: str
    judge: Model | None = None

    @property
    def name(self) -> str:
        """What the row is called."""
        return f"{self.order}, judge: {self.judge.name}" if self.judge else self.order


@dataclass(slots=True, kw_only=True)
class Scores:
    """What one order did, question by question."""

    as_set: list[int] = field(default_factory=list)
    as_bag: list[int] = field(default_factory=list)
    rescued: list[int] = field(default_factory=list)
    rescues: list[Rescue] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)

    def add(self, answer: Answer, gold: Rows, gold_sql: str) -> None:
        """One question."""
        right = is_right(answer, gold, gold_sql)
        self.as_set.append(right[0])
        self.as_bag.append(right[1])
        self.cost += answer.cost
        if answer.rescue is not None:
            self.rescued.append(len(self.as_bag) - 1)
            self.rescues.append(answer.rescue)
            self.ms.append(answer.timing_ms["rescue"])


def is_right(answer: Answer, gold: Rows, gold_sql: str) -> tuple[int, int]:
    """Whether an answer is right as a set, and as a multiset."""
    if answer.failure is not None:
        return 0, 0
    columns = answer.columns
    rows = Rows(
        columns=columns,
        types=(None,) * len(columns),
        rows=list(answer.rows),
        truncated=answer.truncated,
    )
    pair = Pair(
        gold=gold, pred=rows, gold_sql=gold_sql, pred_sql=answer.final_sql, dialect=answer.dialect
    )
    return int(pair.same_set is True), int(pair.same_bag is True)


def runs() -> Iterator[Run]:
    """The rows of a table: first what acts without candidates, then the rules, then judges."""
    for order in ("off", "p1", "p1-p2", "selector", "selector-patches"):
        yield Run(order=order)
    for order in ("findings", "findings-repairs"):
        yield Run(order=order)
    for order in ("paper-v1", "paper-v1-text", "reprobe", "paper-v2", "grain"):
        for judge in (StandIn("chance"), StandIn("best")):
            yield Run(order=order, judge=judge)


def real_runs(model: Model) -> Iterator[Run]:
    """The rows of a table with a real judge, beside what decides without one."""
    for order in ("off", "selector-patches", "findings-repairs"):
        yield Run(order=order)
    for order in ("paper-v2", "grain", "regenerate"):
        yield Run(order=order, judge=model)


@dataclass(frozen=True, slots=True)
class Measured:
    """The scores of each run, the cases that counted, and in how many a candidate is right."""

    scores: dict[str, Scores]
    cases: list[Case]
    possible: int


def opened(cases: Iterable[Case]) -> Iterator[tuple[Case, Remembering, Rows]]:
    """The cases whose gold query runs, with the database and what gold returned."""
    for database, group in groupby(cases, key=lambda case: case.database):
        with closing(Remembering(database)) as engine:
            for case in group:
                gold = engine.execute(case.gold, limits=SETTINGS.limits())
                if isinstance(gold, Rows):
                    yield case, engine, gold


def measure(cases: Iterable[Case], all_runs: Sequence[Run]) -> Measured:
    """Every order on every case whose gold query runs."""
    scores = {run.name: Scores() for run in all_runs}
    counted: list[Case] = []
    possible = 0
    for case, engine, gold in opened(cases):
        counted.append(case)
        right = _right_ones(case, gold, engine)
        possible += bool(right)
        unflagged: dict[object, Answer] = {}
        for run in all_runs:
            order = ORDERS[run.order]
            same = (order.patches, order.grain and "patch" in order.steps)
            answer = unflagged.get(same)
            if answer is None:
                if isinstance(run.judge, StandIn):
                    run.judge.right = right
                answer = _guarded(run, case, engine)
                # Orders differ in rescues: where one is not called for, none of its kind is.
                first = order.choose is not None and "probe_again" not in order.steps
                if first and answer.rescue is None:
                    unflagged[same] = answer
            scores[run.name].add(answer, gold, case.gold)
    return Measured(scores, counted, possible)


def flagged(cases: Iterable[Case], most: int) -> list[Case]:
    """At most so many of the cases whose base the probe flags, evenly spread."""
    found = [case for case, engine, _ in opened(cases) if _probed(case, engine) is not None]
    return found[:: max(1, -(-len(found) // most))]


def _probed(case: Case, engine: Engine) -> str | None:
    answer = Guard(engine, "off", SETTINGS).run(case.base)
    return trigger_of(answer.probe, answer.failure)


def _guarded(run: Run, case: Case, engine: Engine) -> Answer:
    return Guard(engine, run.order, SETTINGS, run.judge).run(
        case.base, question=case.question, hint=case.hint, candidates=case.pool, fix=True
    )


def _right_ones(case: Case, gold: Rows, engine: Engine) -> frozenset[str]:
    plain = Guard(engine, "off", SETTINGS)
    found = {sql: plain.run(sql) for sql in dict.fromkeys(case.pool)}
    return frozenset(sql for sql, a in found.items() if is_right(a, gold, case.gold)[1])


HEAD = (
    "| order | Set-EX | Multiset-EX | against the base (95 %) | fixed / broken | rescues | chosen "
    "| in rescued queries: fixed / broken | no valid index | no healthy candidate |\n"
    + "|---" * 10
    + "|"
)


def table(scores: dict[str, Scores], cases: Sequence[Case]) -> list[str]:
    """One row for each order."""
    base = scores["off"]
    return [HEAD, *(_line(name, one, base, cases) for name, one in scores.items())]


def _line(name: str, one: Scores, base: Scores, cases: Sequence[Case]) -> str:
    n = len(cases)
    outcomes: Counter[str] = Counter(rescue.outcome for rescue in one.rescues)
    changed = [one.as_bag[i] - base.as_bag[i] for i in one.rescued]
    unhealthy = sum(not rescue.healthy for rescue in one.rescues)
    cells = [
        name,
        f"{sum(one.as_set) / n:.2%}",
        f"{sum(one.as_bag) / n:.2%}",
        difference(base.as_bag, one.as_bag, cases) if one is not base else "",
        f"{_ups(base, one)} / {_ups(one, base)}",
        str(len(one.rescues)) if one.rescues else "",
        str(outcomes["chosen"]) if one.rescues else "",
        f"{changed.count(1)} / {changed.count(-1)}" if one.rescues else "",
        str(sum(outcomes[o] for o in _NO_INDEX)) if one.cost.llm_calls else "",
        str(unhealthy) if one.rescues else "",
    ]
    return f"| {' | '.join(cells)} |"


def _ups(before: Scores, after: Scores) -> int:
    return sum(b < a for b, a in zip(before.as_bag, after.as_bag, strict=True))


def difference(before: Sequence[int], after: Sequence[int], cases: Sequence[Case]) -> str:
    """The paired difference in points, with its interval; see INTRO for what is drawn."""
    several = len({case.database for case in cases}) > 1
    clusters = [str(case.database) if several else case.question for case in cases]
    paired = compare_paired(before, after, clusters)
    if paired is None:
        return "(needs scipy)"
    interval = paired.clustered or paired.interval
    points = f"{100 * paired.difference:+.2f}"
    if interval is None:
        return points
    return f"{points} [{100 * interval.low:+.2f}, {100 * interval.high:+.2f}]"


OURS = ("findings", "findings-repairs")
THEIRS = ("p1-p2", "selector", "selector-patches")


def comparisons(scores: dict[str, Scores], cases: Sequence[Case]) -> list[str]:
    """Ours against the paper's, order by order."""
    lines = [
        "| ours | against | Multiset-EX | Set-EX | better / worse |\n|---|---|---|---|---|",
    ]
    judged = [name.removeprefix("grain") for name in scores if name.startswith("grain, ")]
    pairs = [(a, b) for a in OURS for b in THEIRS]
    pairs += [(f"grain{judge}", f"paper-v2{judge}") for judge in judged]
    for ours, theirs in pairs:
        if ours not in scores or theirs not in scores:
            continue
        a, b = scores[ours], scores[theirs]
        bag = difference(b.as_bag, a.as_bag, cases)
        as_set = difference(b.as_set, a.as_set, cases)
        lines.append(f"| {ours} | {theirs} | {bag} | {as_set} | {_ups(b, a)} / {_ups(a, b)} |")
    return lines


def costs(scores: dict[str, Scores], cases: Sequence[Case]) -> list[str]:
    """What rescues take: in each rescued query, and over all questions (paper, section 4.5)."""
    lines = ["| order | rescues | calls | ms at the median | ms over all questions |"]
    lines.append("|---|---|---|---|---|")
    for name, one in scores.items():
        if one.ms:
            spread = sum(one.ms) / len(cases)
            calls = one.cost.llm_calls
            lines.append(
                f"| {name} | {len(one.ms)} | {calls} | {median(one.ms):.1f} | {spread:.2f} |"
            )
    return lines


READING = """\
- Set-EX and Multiset-EX are the paper's (section 2.2). `off` is the query as it was selected:
  the first candidate of a sampled pool, or one system's answer. Orders are those of
  [interfaces.md](interfaces.md). Points are per cent of questions.
- Rows without a judge are rules, and final: `selector` is the paper's (section 4.4), `findings`
  ours.
- Intervals are paired bootstraps (95 %). Whole databases are drawn; where there is but one, all
  answers to one question together.
- Fixed and broken count questions that became right, or wrong, as multisets.
"""

INTRO = f"""# Rescue from candidate pools

Written by `python -m benchmarks.rescue`.

{READING}- No real model was asked. `judge: best` picks a right candidate wherever there is one, and
  no judge can beat it; `judge: chance` picks any, which each should beat. A real judge is worth
  something between; `--model NAME` measures it, and [rescue-local.md](rescue-local.md) shows a very
  small one. `regenerate` needs a real one and is missing here.
"""

REAL_INTRO = f"""# Rescue with a real judge

Written by `python -m benchmarks.rescue --model MODEL --most {{most}}`, the model being {{model}}.

Only questions whose query the probe flags, at most {{most}} of each set: this shows that the way to
a real model works, and how often its replies can be used. So few questions decide nothing.

{READING}"""


def report(name: str, measured: Measured) -> None:
    """One set as Markdown."""
    scores, cases = measured.scores, measured.cases
    print(f"## {name}\n\n{len(cases):,} questions with a gold query that runs; ", end="")
    print(f"in {measured.possible:,} of them some candidate is right as a multiset.\n")
    print("\n".join([*table(scores, cases), "", *comparisons(scores, cases), ""]))
    print("\n".join([*costs(scores, cases), ""]), flush=True)


def main() -> None:
    """All sets, or one real judge on a sample of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="", help="a real judge, as the setting `model` names it")
    parser.add_argument("--base-url", default=SETTINGS.base_url)
    parser.add_argument(
        "--most", type=int, default=10, help="flagged questions of each set at most"
    )
    given = parser.parse_args()
    require()
    asked = Settings(model=given.model, base_url=given.base_url, model_concurrency=1)
    model = connect_model(asked)
    if model is None:
        print(INTRO)
        for pools in pool_sets():
            report(pools.name, measure(pools.cases, list(runs())))
    else:
        print(REAL_INTRO.format(model=model.name, most=given.most))
        for pools in sampled_sets():
            report(pools.name, measure(flagged(pools.cases, given.most), list(real_runs(model))))


if __name__ == "__main__":
    main()
