"""NOT IN (SELECT x …): one NULL among the x, and no row is returned."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from modularsql.multiplicity.model import Block, Query
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.origins import Origin, origin
from modularsql.multiplicity.rules.facts.probes import any_row
from modularsql.records import Evidence, Severity
from modularsql.sql.dialects import dialect_of


@detector
def not_in_null(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """NOT IN compares with a column that may hold NULL, and then holds for no row."""
    if not dialect_of(analysis.catalog.dialect).null_undoes_not_in:
        return
    for query in block.subqueries:
        negated = _not_in(query)
        column = _nullable(query) if negated is not None else None
        if negated is None or column is None:
            continue
        name = f"{column.table.name}.{column.column.name}"
        yield Issue(
            rule="not_in_null",
            severity=Severity.WARNING if _is_meant(column) else Severity.INFO,
            measured=Severity.ERROR,
            evidence=Evidence.ENFORCED if _is_meant(column) else Evidence.ASSUMED,
            message=(
                f"One NULL in {name} makes NOT IN hold for no row, so that nothing comes back, and "
                f"the schema allows NULL there. Compare with NOT EXISTS, or with {name} IS NOT "
                "NULL added to the subquery."
            ),
            node=negated,
            block=block,
            probe=partial(_holds_null, query),
            rewrites=("not_in_to_not_exists",),
        )


def _holds_null(query: Query) -> exp.Select | None:
    inner = query.block
    if inner is None or inner.is_aggregate or inner.is_cut:
        return None
    return any_row(inner, inner.outputs[0].expression.copy().is_(exp.null()))


def _is_meant(found: Origin) -> bool:
    """Whether NULL is allowed on purpose: padded by an outer join, or where others forbid it.

    A table in which no column is declared NOT NULL says nothing of any.
    """
    keys = {name.casefold() for key in found.table.keys for name in key.columns}
    others = (c for c in found.table.columns if c.name.casefold() not in keys)
    return found.padded or any(not column.nullable for column in others)


def _not_in(query: Query) -> exp.Expr | None:
    """The NOT IN, or <> ALL, that asks a query."""
    node = query.node
    while isinstance(node.parent, exp.Subquery):
        node = node.parent
    asked = node.parent
    if isinstance(asked, exp.In) and node.arg_key == "query":
        around = asked.parent
        while isinstance(around, exp.Paren):
            around = around.parent
        return around if isinstance(around, exp.Not) else None
    if isinstance(asked, exp.All) and isinstance(asked.parent, exp.NEQ):
        return asked.parent
    return None


def _nullable(query: Query) -> Origin | None:
    """The column that a query returns, where it may hold NULL in the rows it returns."""
    inner = query.block
    if inner is None or len(inner.outputs) != 1:
        return None
    output = inner.outputs[0]
    if output.attribute & inner.rows.not_null:
        return None
    found = origin(inner, output.attribute)
    if found is None:
        return None
    # SQLite allows NULL in most primary keys; nobody means it to.
    named = found.column.name.casefold()
    primary = any(
        key.kind == "primary" and named in (c.casefold() for c in key.columns)
        for key in found.table.keys
    )
    sure = not found.column.nullable or primary
    return None if sure and not found.padded else found
