"""Do people want the copies that a join makes? What training gold says, printed as Markdown.

    python -m benchmarks.intent [RUN …] > docs/intent.md

From every gold query of Spider's training set the outermost DISTINCT is taken away, if it has one;
what is left is looked at as the guard would. Where a join repeats the rows that it returns, the
person who wrote it either kept the copies or had written DISTINCT. Each query counts once. This is
where `tau_repeat` was chosen; the predictions of docs/grain.md had no part in it.

For each folder of a run of `eval --guard grain` (in docs/intent.md: eight systems on Spider dev,
eleven on BIRD superhero) follows what the signs that speak for copies hold back in it.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import require
from benchmarks.rules_on_gold import SETTINGS, engine, spider_train
from modularsql.evaluation.calibration import split
from modularsql.evaluation.run import Run
from modularsql.evaluation.studies import signs
from modularsql.evaluation.table import markdown
from modularsql.guard.grain import look
from modularsql.guard.session import Session
from modularsql.service.run_files import load_run
from modularsql.sql.outermost import Declined, remove_distinct
from modularsql.sql.statement import Statement, read_statement

EDGES = (1.25, 1.5, 1.75, 2.0, 3.0, 5.0, float("inf"))


def bare(sql: str) -> tuple[Statement | None, bool]:
    """The query without its outermost DISTINCT, and whether it had one."""
    statement = read_statement(sql, "sqlite", SETTINGS.max_parse_chars)
    if not isinstance(statement, Statement):
        return None, False
    edited = remove_distinct(statement, "sqlite")
    if isinstance(edited, Declined):
        return statement, False
    inner = read_statement(edited, "sqlite", SETTINGS.max_parse_chars)
    return (inner if isinstance(inner, Statement) else None), True


def factor(path: Path, statement: Statement) -> float | None:
    """How often a join repeats a returned row on average; None where none does."""
    session = Session(engine=engine(path), params=None, limits=SETTINGS.limits())
    seen = look(statement, session)
    for one in seen.issues:
        outermost = seen.query is not None and one.issue.block is seen.query.block
        if one.issue.rule == "fan_out_rows" and one.borne_out and outermost:
            return float(one.finding.measured["factor"])
    return None


def fan_outs() -> Iterator[tuple[float, bool]]:
    """(factor, whether DISTINCT was written) of each query whose rows a join repeats."""
    done: set[tuple[Path, str]] = set()
    for path, sql in spider_train():
        key = (path, " ".join(sql.split()).casefold())
        if key in done:
            continue
        done.add(key)
        statement, written = bare(sql)
        found = factor(path, statement) if statement is not None else None
        if found is not None:
            yield found, written


def main() -> None:
    """The table."""
    require()
    counts: Counter[tuple[float, bool]] = Counter()
    for found, written in fan_outs():
        counts[next(edge for edge in EDGES if found < edge), written] += 1
    print("# Copies that people kept, and copies that they did not want\n")
    print("Written by `python -m benchmarks.intent`; its docstring says how.\n")
    print("| a returned row comes back on average | copies kept | DISTINCT written | share kept |")
    print("|---|---|---|---|")
    low = 1.0
    for edge in EDGES:
        kept, dropped = counts[edge, False], counts[edge, True]
        words = f"{low:g} to {edge:g} times" if edge != EDGES[-1] else f"{low:g} times or more"
        share = f"{kept / (kept + dropped):.2f}" if kept + dropped else "-"
        print(f"| {words} | {kept} | {dropped} | {share} |")
        low = edge
    for folder in sys.argv[1:]:
        held_back(load_run(Path(folder)))


def held_back(run: Run) -> None:
    """The table of signs of a run, as `calibrate` makes it."""
    systems = run.counted_by_system()
    verdicts = [verdict for some in systems.values() for verdict in some]
    data = " ".join(Path(run.about["inputs"]["dataset"]["path"]).parts[-2:])
    print(f"\n## Signs for copies, {len(systems)} systems on {data}: {len(verdicts):,} answers\n")
    print(markdown(signs.table(verdicts, split(verdicts))))


if __name__ == "__main__":
    main()
