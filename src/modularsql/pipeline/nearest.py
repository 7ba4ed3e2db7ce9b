"""A whole schema that is too long even at its plainest: the columns of the nearest tables only.

Every table stays by its name. A table is near to a question that shares words with its name, its
columns or what is said of them, rare words the more, or that names a value of it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from modularsql.catalog import Catalog, Table
from modularsql.multiplicity.question import name_stems, read_question
from modularsql.pipeline.prompting import CHARACTERS_PER_TOKEN, tokens
from modularsql.pipeline.schema_text import ExampleValues, plainest, schema_text
from modularsql.pipeline.state import Linked, Place, State

_NOTE = "\n(of {} tables only the name is shown)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A schema's text, in words what it lacks (None: nothing), and the tables without columns."""

    text: str
    lacks: str | None
    bare: frozenset[str] = frozenset()


def fitted(
    linked: Linked, catalog: Catalog, examples: ExampleValues, state: State, budget: int
) -> Fitted:
    """The text of a schema within `budget` tokens; of a linked one no column is ever left out."""
    text, lacks = schema_text(linked, catalog, examples, budget)
    if tokens(text) <= budget or not linked.whole:
        return Fitted(text=text, lacks=lacks)
    tables = [table for table in catalog if table.name in linked.columns]
    names = {table.name: plainest(table, (), catalog.dialect) for table in tables}
    left = (budget - tokens(_NOTE)) * CHARACTERS_PER_TOKEN - len("\n".join(names.values()))
    shown: dict[str, tuple[str, ...]] = dict.fromkeys(linked.columns, ())
    for table in sorted(tables, key=_distance(tables, examples, state)):
        more = len(plainest(table, linked.columns[table.name], catalog.dialect)) - len(
            names[table.name]
        )
        if more <= left:
            left -= more
            shown[table.name] = linked.columns[table.name]
    bare = frozenset(name for name, columns in shown.items() if not columns)
    text, lacks = schema_text(
        replace(linked, columns=shown), catalog, examples, budget - tokens(_NOTE)
    )
    lacks = ", and ".join(filter(None, (lacks, f"the columns of {len(bare)} tables")))
    return Fitted(text=text + _NOTE.format(len(bare)), lacks=lacks, bare=bare)


def uncovered(
    reasons: Mapping[Place, tuple[str, ...]], bare: Collection[str], catalog: Catalog
) -> dict[Place, tuple[str, ...]]:
    """Linked places, with all columns of the tables that were linked by their names alone."""
    found = dict(reasons)
    for name in {table for table, _ in reasons} & set(bare):
        table = catalog.table(name)
        for column in table.columns if table else ():
            found.setdefault((name, column.name), ("its table was shown by its name only",))
    return found


def _distance(
    tables: Sequence[Table], examples: ExampleValues, state: State
) -> Callable[[Table], float]:
    question = read_question(f"{state.question} {state.hint}")
    asked = set(question.stems if question else ())
    stems = {table.name: asked & _stems(table) for table in tables}
    tables_with = Counter(stem for found in stems.values() for stem in found)
    valued = Counter(table for table, _ in examples)

    def distance(table: Table) -> float:
        named = asked & set(name_stems(table.name))
        words = sum(1 / tables_with[stem] for stem in stems[table.name])
        return -words - len(named) - valued[table.name]

    return distance


def _stems(table: Table) -> set[str]:
    said = [table.name, table.description]
    said += [text for column in table.columns for text in (column.name, column.description)]
    return {stem for text in said for stem in name_stems(text)}
