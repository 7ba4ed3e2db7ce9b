"""How often a checker of the pipeline fires on queries that people wrote, printed as Markdown.

    python -m benchmarks.checkers            counts on Spider's training gold
    python -m benchmarks.checkers NAME [N]   N of the queries on which it fires

What fires on more than 5 % of gold is wrong or a matter of habit. Spider's training file has no
questions, so the checker of wildcards sees every `SELECT *` as one too many.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import require
from benchmarks.rules_on_gold import SETTINGS, catalog, engine, spider_train
from modularsql.pipeline.checkers import CHECKERS
from modularsql.pipeline.checkers.base import Case
from modularsql.rows import Rows


def fired() -> Iterator[tuple[str, dict[str, str]]]:
    """Each gold query that runs, and what each checker says of it."""
    done: set[tuple[Path, str]] = set()
    for path, sql in spider_train():
        if (path, sql) in done:
            continue
        done.add((path, sql))
        outcome = engine(path).execute(sql, limits=SETTINGS.limits())
        if not isinstance(outcome, Rows):
            continue
        case = Case(
            sql=sql,
            outcome=outcome,
            catalog=catalog(path),
            engine=engine(path),
            limits=SETTINGS.limits(),
        )
        said = {checker.name: checker.check(case) for checker in CHECKERS}
        yield sql, {name: words for name, words in said.items() if words is not None}


def main() -> None:
    """The table, or queries of one checker."""
    require()
    if len(sys.argv) > 1:
        most = int(sys.argv[2]) if len(sys.argv) > 2 else 10
        shown = ((sql, said[sys.argv[1]]) for sql, said in fired() if sys.argv[1] in said)
        for sql, words in (pair for pair, _ in zip(shown, range(most), strict=False)):
            print(f"{' '.join(sql.split())}\n    {words}")
        return
    counts: Counter[str] = Counter()
    total = 0
    for _, said in fired():
        total += 1
        counts.update(said.keys())
    print("# Checkers on gold\n")
    print(
        f"Written by `python -m benchmarks.checkers`: {total:,} different gold queries that run.\n"
    )
    print("| checker | fires | share |")
    print("|---|---|---|")
    for checker in CHECKERS:
        n = counts[checker.name]
        print(f"| {checker.name} | {n} | {n / total:.2%} |")


if __name__ == "__main__":
    main()
