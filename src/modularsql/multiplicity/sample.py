"""How often rows of an entity repeat, estimated from a sample of them.

What is drawn are rows of one table of the entity, by a hash of their identity: about one in so
many, each with all rows of the join that it occurs in. So a row that repeats in the sample
repeats; only how often on average is an estimate. It is a ratio of two sums over the drawn rows,
with the error of a ratio estimator (Cochran, Sampling Techniques, 3rd ed., 6.4) at 95 %.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from modularsql.multiplicity.bound import written_out
from modularsql.multiplicity.measure import identity_of, measured_rows
from modularsql.multiplicity.model import Query, Source
from modularsql.multiplicity.registry import Issue
from modularsql.sql.dialects import dialect_of

CONFIDENCE = 0.95
_WIDTH = 1.96  # standard errors on each side, at that confidence
_FEWEST = 100  # drawn rows; the error of fewer is not well known
ENOUGH = 20_000
"""Rows to draw: where counts differ as much as their mean, a factor within 1.4 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a sample of one in `one_in` rows showed, in numbers of the sample.

    `drawn` rows of the table, `different` rows of the entity (within their groups), as which they
    come back `rows` times. `error` is half the interval of the factor, as a share of it.
    """

    drawn: int
    one_in: int
    different: int
    rows: int
    error: float

    @property
    def factor(self) -> float:
        """Rows that one row of the entity becomes on average."""
        return self.rows / self.different


def sampled(issue: Issue, query: Query, dialect: str, one_in: int) -> str | None:
    """A query of one row for `read_sample`; None where the dialect has no hash for the identity."""
    source = sampled_source(issue, dialect)
    rows = measured_rows(issue, query)
    if source is None or rows is None:
        return None
    identity = identity_of(source) or []
    rows.select.where(_drawn(identity, dialect, one_in), append=True, copy=False)
    names = [f"c{i}" for i in range(1, len(rows.columns) + 1)]
    rows.select.set(
        "expressions", [exp.alias_(c, n) for c, n in zip(rows.columns, names, strict=True)]
    )
    drawn = [name for name, c in zip(names, rows.columns, strict=True) if c in identity]
    units = _grouped(rows.select, names, [exp.alias_(exp.Count(this=exp.Star()), "n")])
    sums = [exp.alias_(exp.Count(this=exp.Star()), "x"), exp.alias_(_sum("n"), "y")]
    clusters = _grouped(units, drawn, sums)
    products = [_sum("x", "x"), _sum("x", "y"), _sum("y", "y")]
    top = exp.select(exp.Count(this=exp.Star()), _sum("x"), _sum("y"), *products)
    return written_out(top.from_(clusters.subquery("s"), copy=False), dialect)


def sampled_source(issue: Issue, dialect: str) -> Source | None:
    """The table of the entity of which rows may be drawn."""
    reads = dialect_of(dialect)
    for source in issue.entity:
        if source.table is None or not reads.row_hash or identity_of(source) is None:
            continue
        if source.table.row_id or not reads.row_hash_by_row_id:
            return source
    return None


def read_sample(row: Sequence[Any], one_in: int) -> Sample | None:
    """The estimate from the row of `sampled`; None where too little was drawn to tell."""
    drawn = int(row[0])
    if drawn < _FEWEST:
        return None
    x, y, xx, xy, yy = map(float, row[1:])
    ratio = y / x
    spread = max(0.0, yy - 2 * ratio * xy + ratio**2 * xx) / (drawn - 1)
    error = math.sqrt(spread / drawn) / (x / drawn)
    return Sample(
        drawn=drawn,
        one_in=one_in,
        different=int(x),
        rows=int(y),
        error=_WIDTH * error / ratio,
    )


def _drawn(identity: list[exp.Expr], dialect: str, one_in: int) -> exp.Expr:
    columns = ", ".join(column.sql(dialect=dialect) for column in identity)
    text = f"{dialect_of(dialect).row_hash.format(columns)} % {one_in} = 0"
    return sqlglot.parse_one(text, read=dialect)


def _grouped(rows: exp.Select, by: Sequence[str], values: Sequence[exp.Expr]) -> exp.Select:
    columns = [exp.column(name) for name in by]
    select = exp.select(*columns, *values).from_(rows.subquery("r"), copy=False)
    return select.group_by(*(column.copy() for column in columns), copy=False)


def _sum(*names: str) -> exp.Expr:
    """A sum of products; of more than one name as a floating number, which does not overflow."""
    value: exp.Expr = exp.column(names[0])
    for name in names[1:]:
        one = exp.Mul(this=exp.Literal.number("1.0"), expression=value)
        value = exp.Mul(this=one, expression=exp.column(name))
    return exp.Sum(this=value)
