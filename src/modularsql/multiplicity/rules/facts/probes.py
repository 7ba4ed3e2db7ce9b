"""Questions to the data that bear a finding out: each returns a row if and only if it is so.

They are made on demand, since most are never asked. A block that depends on a row of the query
around cannot be asked by itself; then there is no question.
"""

from collections.abc import Sequence

from sqlglot import exp

from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.measure import bare
from modularsql.multiplicity.model import Block, Query, Source


def any_row(block: Block, condition: exp.Expr) -> exp.Select | None:
    """Whether a row of FROM and WHERE meets a further condition."""
    select = _bare(block)
    return select and select.where(condition, copy=False).limit(1, copy=False)


def differing(
    block: Block, by: Sequence[exp.Expr], columns: Sequence[exp.Expr]
) -> exp.Select | None:
    """Whether rows that agree on `by` differ in one of the columns."""
    select = _bare(block)
    if select is None or not columns:
        return None
    counts = [exp.Count(this=exp.Distinct(expressions=[c.copy()])) > 1 for c in columns]
    # One group of all rows: a bare HAVING, and a constant in GROUP BY, are refused here and there.
    one = exp.Nullif(this=exp.Literal.number(1), expression=exp.Literal.number(1))
    select.group_by(*(part.copy() for part in by or [one]), copy=False)
    return select.having(exp.or_(*counts), copy=False).limit(1, copy=False)


def second_row(query: Query) -> exp.Select | None:
    """Whether a query returns more than one row."""
    block = query.block
    if block is not None and block.correlated:
        return None
    inner = query.node.copy()
    if not isinstance(inner, exp.Query):
        return None
    inner.set("order", None)
    return exp.select("1").from_(inner.subquery("rows_of_it")).limit(1).offset(1)


def fewer_rows(union: exp.Union) -> exp.Select:
    """Whether a UNION drops rows."""
    every = union.copy()
    every.set("distinct", False)
    counts = [
        exp.select("COUNT(*)").from_(node.subquery("rows_of_it")).subquery()
        for node in (union.copy(), every)
    ]
    return exp.select("1").where(counts[0] < counts[1])


def without_partner(block: Block, parent: Source, child: Source) -> exp.Select | None:
    """How many rows of a table (`parents`) the join of a block of two leaves out (`lost`), if any.

    None where no column of the child says whether one was found.
    """
    second = block.sources[1]
    partner = next((n for n, a in child.columns.items() if a & second.predicate.not_null), None)
    if partner is None or second.join is None or block.correlated or second.lateral:
        return None
    outer = exp.Join(this=_alone(child.node), side="LEFT")
    for how in ("on", "using"):
        value = second.join.args.get(how)
        outer.set(
            how, [n.copy() for n in value] if isinstance(value, list) else value and value.copy()
        )
    missing = child.column(partner).is_(exp.null())
    apart = exp.select(exp.alias_(_count(), "lost")).from_(_alone(parent.node))
    apart.set("joins", [outer])
    apart.where(missing, copy=False)
    every = exp.select(exp.alias_(_count(), "parents")).from_(_alone(parent.node))
    both = exp.select("lost", "parents").from_(apart.subquery("l"))
    both.set("joins", [exp.Join(this=every.subquery("p"), kind="CROSS")])
    return both.where(exp.column("lost") > 0, copy=False)


def _alone(node: exp.Expr) -> exp.Expr:
    copy = node.copy()
    copy.set("joins", None)
    return copy


def _count() -> exp.Count:
    return exp.Count(this=exp.Star())


def identity(source: Source) -> exp.Column | None:
    """One column that tells a source's rows apart and is never NULL in one of them."""
    table = source.table
    if table is None:
        return None
    if table.row_id:
        return source.column(table.row_id, quoted=False)
    single = (k.columns[0] for k in table.keys if len(k.columns) == 1 and not k.null_distinct)
    name = next(single, None)
    return source.column(name) if name else None


def _bare(block: Block) -> exp.Select | None:
    """`SELECT 1` over the block's FROM and WHERE."""
    if block.correlated or is_volatile(block.select):
        return None
    return bare(block.select, [exp.Literal.number(1)])
