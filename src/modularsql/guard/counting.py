"""How many rows a result has, and how many distinct ones: what is asked for it, and the answer."""

from dataclasses import dataclass

from sqlglot import exp

from modularsql.records import Failure
from modularsql.rows import Rows
from modularsql.sql.dialects import dialect_of
from modularsql.sql.named import cte, embeddable

_PARTS = 64  # of an estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Rows and distinct rows of a result; `pushed_down` when the engine counted.

    `error` is half the interval of an estimate of the distinct ones, as a share of it; 0 = counted.
    """

    rows: int
    distinct: int
    pushed_down: bool
    error: float = 0.0


def exact(counts: Counts | Failure) -> Counts | None:
    """Counts that results may be compared by; None for an estimate, or none at all."""
    return None if isinstance(counts, Failure) or counts.error else counts


def counts_in(outcome: Rows, error: float = 0.0) -> Counts:
    """The answer to one of the queries below."""
    total, distinct = map(int, outcome.rows[0])
    # An estimate may say more than there can be.
    return Counts(rows=total, distinct=min(total, distinct), pushed_down=True, error=error)


def counting(sql: str, columns: int, dialect: str) -> str:
    """A query for the number of rows and of distinct rows of `sql`, in one execution.

    Columns are renamed, so that repeated and missing names do not matter; GROUP BY puts NULLs
    together and compares text as the columns do. The text is put in as it is where the dialect
    takes it so: it was run by itself before, so it is one statement with its parentheses closed.
    """
    name, names, with_ = _named(sql, columns, dialect)
    return (
        f"{with_} SELECT COALESCE(SUM(n), 0), COUNT(*) "
        f"FROM (SELECT COUNT(*) AS n FROM {name} GROUP BY {', '.join(names)}) g"
    )


def near_counting(sql: str, columns: int, dialect: str) -> str:
    """The same with an estimate of the distinct rows, for dialects with `near_distinct`.

    The rows are divided by their hash into parts, whose estimates are added: each errs by itself,
    so their sum errs less.
    """
    name, names, with_ = _named(sql, columns, dialect)
    of = dialect_of(dialect)
    hashed = of.row_hash.format(", ".join(names))
    part = exp.Mod(this=exp.column("h"), expression=exp.Literal.number(_PARTS))
    return (
        f"{with_} SELECT COALESCE(SUM(n), 0), COALESCE(SUM(d), 0) "
        f"FROM (SELECT COUNT(*) AS n, {of.near_distinct.format('h')} AS d "
        f"FROM (SELECT {hashed} AS h FROM {name}) r GROUP BY {part.sql(dialect=dialect)}) g"
    )


def _named(sql: str, columns: int, dialect: str) -> tuple[str, list[str], str]:
    """A name for `sql`, names for its columns, and the WITH that gives it them.

    What is made of it has no AS before the name of a derived table: Oracle takes none.
    """
    name = "q"
    while name in sql.lower():  # a table of that name in `sql` would become this very query
        name += "q"
    names = [f"c{i}" for i in range(1, columns + 1)]
    before, body = embeddable(sql, dialect)
    definitions = [*before, cte(name, names, f"(\n{body}\n)", dialect)]
    return name, names, f"WITH {', '.join(definitions)}"
