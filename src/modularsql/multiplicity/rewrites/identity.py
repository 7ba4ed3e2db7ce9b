"""Columns that tell the rows of a source apart, as a rewrite writes them."""

from dataclasses import dataclass

from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.model import Source
from modularsql.multiplicity.rewrites.edits import column
from modularsql.records import Evidence

_GRADES = tuple(Evidence)


@dataclass(frozen=True, slots=True)
class RowKey:
    """Qualified columns in SQL, and what it rests on that they tell rows apart."""

    columns: tuple[str, ...]
    evidence: Evidence


def key_of(source: Source, dialect: str) -> RowKey | None:
    """The shortest key without NULLs of the best grade, else the row id; None without either."""
    if source.table is None:
        return _of_query(source, dialect)
    keys = [key for key in source.table.keys if not key.null_distinct]
    best = min(keys, key=lambda key: (_GRADES.index(key.evidence), len(key.columns)), default=None)
    if best is not None and best.evidence != Evidence.ASSUMED:
        return RowKey(_written(source, best.columns, dialect), best.evidence)
    if source.table.row_id:
        return RowKey(_written(source, (source.table.row_id,), dialect), Evidence.ENFORCED)
    return None


def _of_query(source: Source, dialect: str) -> RowKey | None:
    names = [name for name in source.columns if not name.startswith("\0")]
    grade = source.relation.is_key(union(source.columns[name] for name in names))
    if not names or grade in (None, Evidence.ASSUMED):
        return None
    for name in names:  # one column says it, where one does
        alone = source.relation.is_key(source.columns[name])
        if alone == grade:
            return RowKey(_written(source, (name,), dialect), alone)
    return RowKey(_written(source, tuple(names), dialect), grade or Evidence.ASSUMED)


def _written(source: Source, names: tuple[str, ...], dialect: str) -> tuple[str, ...]:
    return tuple(column(source, name, dialect) for name in names)


def weakest(*grades: Evidence) -> Evidence:
    """The grade of a conclusion that needs all of these."""
    return _GRADES[max((_GRADES.index(grade) for grade in grades), default=0)]
