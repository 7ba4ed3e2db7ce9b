"""Gold that smells, and which kinds of labelled mistakes our static findings see, as Markdown.

    python -m benchmarks.gold_smells

First part: the smells of gold queries on the databases at hand. Second part: NL2SQL-Bugs, whose
2,018 queries over BIRD's databases people have labelled right or wrong, with the kinds of error.
Only their text is looked at, with the keys of BIRD's `dev_tables.json`.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus import BIRD, SPIDER, bird_superhero, require, spider_dev
from modularsql import Settings, connect
from modularsql.catalog import Catalog
from modularsql.declared.read import read_keys
from modularsql.evaluation.datasets import Dataset, database_file
from modularsql.evaluation.smelling import smell
from modularsql.evaluation.smells import TITLES, Smell
from modularsql.guard.grain import static
from modularsql.ports import Engine
from modularsql.records import Severity
from modularsql.rows import Rows
from modularsql.sql.statement import Statement, read_statement

SETTINGS = Settings(timeout=5.0)
LOUD = (Severity.ERROR, Severity.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One query of NL2SQL-Bugs: its kinds of error (none when it is right) and what we find."""

    kinds: frozenset[str]
    loud: frozenset[str]
    any: frozenset[str]


def smell_of(engine: Engine, sql: str) -> tuple[Smell, ...]:
    """Run one gold query, look at it as the guard does, and smell."""
    limits = SETTINGS.limits()

    def run(query: str) -> Rows | None:
        found = engine.execute(query, limits=limits)
        return found if isinstance(found, Rows) else None

    return smell(engine, sql, engine.execute(sql, limits=limits), run, SETTINGS)


def smell_table(title: str, dataset: Dataset, root: Path) -> None:
    """How many gold queries have each smell, and which."""
    engines: dict[Path, Engine] = {}
    found: dict[Smell, list[str]] = defaultdict(list)
    total = smelling = 0
    for question in dataset.questions:
        path = database_file(root, question.db)
        if path is None or not question.gold:
            continue
        if path not in engines:
            engines[path] = connect(path, SETTINGS)
        these = smell_of(engines[path], question.gold)
        total += 1
        smelling += bool(these)
        for kind in these:
            found[kind].append(question.id)
    print(f"\n## {title}: {smelling} of {total} gold queries smell\n")
    print("| smell | what it says | queries | ids |\n|---|---|---|---|")
    for kind in Smell:
        ids = found[kind]
        some = ", ".join(ids[:8]) + (", …" if ids[8:] else "")
        print(f"| {kind} | {TITLES[kind]} | {len(ids)} | {some} |")


def labelled(entries: Iterable[Any]) -> Iterator[Labelled]:
    """What the rules find in each labelled query, by its text and the declared keys alone."""
    catalogs: dict[str, Catalog] = {}
    for entry in entries:
        name = entry["db_id"]
        if name not in catalogs:
            catalogs[name] = read_keys(BIRD / "dev_tables.json", name).catalog
        statement = read_statement(entry["sql"], "sqlite", SETTINGS.max_parse_chars)
        seen = static(statement, catalogs[name]).issues if isinstance(statement, Statement) else ()
        kinds = [f"{e['error_type']}: {e['sub_error_type']}" for e in entry["error_types"]]
        yield Labelled(
            kinds=frozenset() if entry["label"] else frozenset(kinds),
            loud=frozenset(one.issue.rule for one in seen if one.issue.severity in LOUD),
            any=frozenset(one.issue.rule for one in seen),
        )


def bugs() -> None:
    """NL2SQL-Bugs: by kind of error, and by rule."""
    text = (BIRD / "NL2SQL-Bugs-with-evidence.json").read_text(encoding="utf-8")
    queries = list(labelled(json.loads(text)))
    wrong = [query for query in queries if query.kinds]
    right = [query for query in queries if not query.kinds]
    print(f"\n## NL2SQL-Bugs: {len(wrong)} wrong and {len(right)} right queries\n")
    print(
        "Queries for BIRD that people labelled; findings from the schema alone, since the data of"
    )
    print(
        "most of these databases is not here. A finding says that rows repeat, go missing or melt"
    )
    print("together; a wrong column, value or table leaves no trace of that kind.\n")
    by_kind(wrong, right)
    by_rule(wrong, right)


def by_kind(wrong: list[Labelled], right: list[Labelled]) -> None:
    """Of the queries with each kind of error, how many have a finding; p against the right ones."""
    from scipy.stats import fisher_exact

    base = sum(bool(query.loud) for query in right)
    print("| kind of error | queries | with a warning or error | any finding | p | most found |")
    print("|---|---|---|---|---|---|")
    print(f"| (right) | {len(right)} | {_share(base, len(right))} | {_any(right)} | | |")
    kinds = Counter(kind for query in wrong for kind in query.kinds)
    seen = []
    for kind, count in kinds.most_common():
        these = [query for query in wrong if kind in query.kinds]
        hits = sum(bool(query.loud) for query in these)
        table = [[hits, count - hits], [base, len(right) - base]]
        p = float(fisher_exact(table, alternative="greater").pvalue)
        seen += [kind] * (p < 0.05 / len(kinds))
        rules = Counter(sorted(rule for query in these for rule in query.loud)).most_common(2)
        most = ", ".join(f"{rule} {n}" for rule, n in rules)
        print(f"| {kind} | {count} | {_share(hits, count)} | {_any(these)} | {p:.2g} | {most} |")
    unseen = [k for k in kinds if not any(query.loud for query in wrong if k in query.kinds)]
    print(
        f"\nA warning or error stands on some query of {len(kinds) - len(unseen)} of {len(kinds)} "
        f"kinds, but so it does on {_share(base, len(right))} of the right queries."
    )
    print(
        f"{len(seen)} of {len(kinds)} kinds are found more often than right queries are flagged "
        f"(Fisher's exact test, one-sided, p < 0.05 / {len(kinds)}): {'; '.join(seen) or 'none'}."
    )


def by_rule(wrong: list[Labelled], right: list[Labelled]) -> None:
    """Of what each rule flags, how much is labelled wrong."""
    print("\n| rule (warning or error) | wrong | right | precision |\n|---|---|---|---|")
    on_wrong = Counter(rule for query in wrong for rule in query.loud)
    on_right = Counter(rule for query in right for rule in query.loud)
    for rule, total in sorted((on_wrong + on_right).items(), key=lambda one: (-one[1], one[0])):
        hits = on_wrong[rule]
        print(f"| {rule} | {hits} | {on_right[rule]} | {hits / total:.2f} |")
    hits, misses = (sum(bool(query.loud) for query in some) for some in (wrong, right))
    print(f"| any | {hits} | {misses} | {hits / (hits + misses):.2f} |")
    share = len(wrong) / (len(wrong) + len(right))
    print(f"\nFlagging at random would have a precision of {share:.2f}.")


def _any(queries: list[Labelled]) -> str:
    return _share(sum(bool(query.any) for query in queries), len(queries))


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)"


def main() -> None:
    """Both parts."""
    require()
    print("# Gold that smells\n\nWritten by `python -m benchmarks.gold_smells > docs/gold.md`.")
    smell_table("Spider dev", spider_dev(), SPIDER / "database")
    smell_table("BIRD superhero", bird_superhero()[0], BIRD / "databases")
    bugs()


if __name__ == "__main__":
    main()
