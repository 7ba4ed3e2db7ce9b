"""Rows stored twice: a column is named like a key, and holds a value more than once."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from modularsql.multiplicity.aggregates import (
    AVERAGES,
    COUNTS,
    LISTS,
    SUMS,
    is_distinct,
    measured,
)
from modularsql.multiplicity.model import Aggregate, Block, JoinKind, Source
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.words import names, text
from modularsql.records import Evidence, Severity

_SENSITIVE = SUMS | AVERAGES | COUNTS | LISTS


@detector
def dirty_key(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """An aggregate runs over a table whose column named like a key holds values twice."""
    for source in block.sources:
        key = _named_like_a_key(source)
        if key is None:
            continue
        seen = (a for a in block.aggregates if a.kind in _SENSITIVE and not is_distinct(a))
        node = next((a.node for a in seen if _measures(block, a, source)), None)
        if node is None:
            continue
        table = names((source,), block)
        yield Issue(
            rule="dirty_key",
            severity=Severity.INFO,
            measured=Severity.WARNING,
            evidence=Evidence.ASSUMED,
            message=(
                f"{table}.{key} is named like a key, but nothing keeps a value from being stored "
                f"twice, and {text(node)} then counts both rows. Compare the number of rows of "
                f"{table} with the number of different {key}."
            ),
            node=node,
            block=block,
            entity=(source,),
            probe=partial(_twice, source, key),
            rewrites=("distinct_source",),
        )


def _measures(block: Block, aggregate: Aggregate, source: Source) -> bool:
    used = measured(block, aggregate)
    return source in used or (not used and len(block.sources) == 1)


def _named_like_a_key(source: Source) -> str | None:
    """`id`, or the table's name with it, in a table of which no key is declared."""
    table = source.table
    if isinstance(source.node, exp.Final):  # FINAL merges the rows that it sees twice
        return None
    if table is None or table.kind != "table" or table.keys or source.kind == JoinKind.SEMI:
        return None
    referring = {name.casefold() for fk in table.foreign_keys for name in fk.columns}
    stems = {table.name.casefold(), table.name.casefold().rstrip("s")}
    wanted = {"id", *(f"{stem}_id" for stem in stems), *(f"{stem}id" for stem in stems)}
    names_ = (column.name for column in table.columns)
    return next((n for n in names_ if n.casefold() in wanted - referring), None)


def _twice(source: Source, key: str) -> exp.Select | None:
    """Whether a value stands in two rows of the table."""
    if not isinstance(source.node, exp.Table):
        return None
    table = source.node.copy()
    for clause in ("joins", "laterals"):
        table.set(clause, None)
    column = source.column(key)
    select = exp.select("1").from_(table).where(column.copy().is_(exp.null()).not_())
    return select.group_by(column).having("COUNT(*) > 1").limit(1)
