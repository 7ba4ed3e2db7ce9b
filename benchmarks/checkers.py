"""How often a checker of the pipeline fires on queries that people wrote, printed as Markdown.

    python -m benchmarks.checkers            counts on gold
    python -m benchmarks.checkers NAME [N]   N of the queries on which it fires

What fires on more than 5 % of gold is wrong or a matter of habit.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import BIRD, SPIDER, bird_superhero, require, spider_dev
from benchmarks.rules_on_gold import SETTINGS, catalog, engine, spider_train
from modularsql.evaluation.datasets import database_file
from modularsql.pipeline.checkers import CHECKERS
from modularsql.pipeline.checkers.base import Case
from modularsql.rows import Rows

SETS = ("Spider train", "Spider dev", "BIRD superhero")


def gold(name: str) -> Iterator[tuple[Path, str, str]]:
    """(database, query, question) of a set."""
    if name == "Spider train":
        yield from ((path, sql, "") for path, sql in spider_train())
        return
    dataset, root = (
        (spider_dev(), SPIDER / "database")
        if name == "Spider dev"
        else (bird_superhero()[0], BIRD / "databases")
    )
    for question in dataset.questions:
        path = database_file(root, question.db)
        if path is not None and question.gold:
            yield path, question.gold, question.question


def fired(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each different gold query that runs, and what each checker says of it."""
    done: set[tuple[Path, str, str]] = set()
    for path, sql, question in gold(name):
        if (path, sql, question) in done:
            continue
        done.add((path, sql, question))
        outcome = engine(path).execute(sql, limits=SETTINGS.limits())
        if not isinstance(outcome, Rows):
            continue
        case = Case(
            sql=sql,
            outcome=outcome,
            catalog=catalog(path),
            engine=engine(path),
            limits=SETTINGS.limits(),
            question=question,
        )
        said = {checker.name: checker.check(case) for checker in CHECKERS}
        yield sql, {name: words for name, words in said.items() if words is not None}


def main() -> None:
    """The table, or queries of one checker."""
    require()
    if len(sys.argv) > 1:
        most = int(sys.argv[2]) if len(sys.argv) > 2 else 10
        shown = (
            (sql, said[sys.argv[1]])
            for name in SETS
            for sql, said in fired(name)
            if sys.argv[1] in said
        )
        for sql, words in (pair for pair, _ in zip(shown, range(most), strict=False)):
            print(f"{' '.join(sql.split())}\n    {words}")
        return
    print("# Checkers on gold\n")
    print(
        "Written by `python -m benchmarks.checkers`: how often a checker fires on gold that runs."
    )
    print(
        "Spider's training file has no questions, so `select` sees each `SELECT *` as one too many"
    )
    print('there. The last three fire only under `profile = "bird"`, whose set is BIRD.\n')
    counts: dict[str, Counter[str]] = {}
    totals: dict[str, int] = {}
    for name in SETS:
        said = [found for _, found in fired(name)]
        totals[name] = len(said)
        counts[name] = Counter(checker for found in said for checker in found)
    print("| checker | " + " | ".join(f"{name} ({totals[name]:,})" for name in SETS) + " |")
    print("|---" * (len(SETS) + 1) + "|")
    for checker in CHECKERS:
        cells = (f"{n} ({n / totals[s]:.2%})" for s in SETS for n in [counts[s][checker.name]])
        print(f"| {checker.name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
