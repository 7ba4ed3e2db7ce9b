"""A subquery stands for one value, and may find several rows."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.grain import grounds
from modularsql.multiplicity.model import Block, Query
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.probes import second_row
from modularsql.multiplicity.rules.facts.uses import Use, use_of
from modularsql.multiplicity.words import text
from modularsql.records import Evidence, Severity
from modularsql.sql.dialects import dialect_of


@detector
def scalar_subquery_many_rows(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A subquery used as one value is not known to return one row at most."""
    for query in block.subqueries:
        if not isinstance(query.node.parent, exp.Subquery) or use_of(query.node) != Use.SCALAR:
            continue
        if _is_container(query) or query.relation.is_key(0) is not None or _unknown(query):
            continue
        then = "takes an arbitrary one of them"
        if not dialect_of(analysis.catalog.dialect).subquery_takes_any:
            then = "stops with an error"
        evidence = grounds(query.block, tuple(query.block.sources)) if query.block else None
        likely = evidence not in (None, Evidence.ASSUMED) and not _names_one(query)
        yield Issue(
            rule="scalar_subquery_many_rows",
            severity=Severity.WARNING if likely else Severity.INFO,
            measured=Severity.WARNING,
            evidence=evidence or Evidence.ASSUMED,
            message=(
                f"({text(query.node)}) stands for one value; where it finds several rows the "
                f"database {then}. Compare with the number of rows it returns by itself."
            ),
            node=query.node,
            block=block,
            probe=partial(second_row, query),
        )


def _is_container(query: Query) -> bool:
    """ARRAY(SELECT …) and the like take all rows."""
    around = query.node.parent.parent if query.node.parent else None
    return isinstance(around, exp.Array | exp.Unnest | exp.Tuple | exp.Anonymous)


def _unknown(query: Query) -> bool:
    return query.block is not None and bool(query.block.unknown)


def _names_one(query: Query) -> bool:
    """Whether a condition compares with one value: the writer thought of one row.

    A constant, or another single value such as the maximum; not a column of the query around,
    which asks anew for each of its rows.
    """
    where = query.node.args.get("where")
    return any(
        isinstance(part, exp.EQ | exp.Like) and (_is_value(part.this) or _is_value(part.expression))
        for part in conjuncts(where.this if where else None)
    )


def _is_value(node: exp.Expr) -> bool:
    quoted = isinstance(node, exp.Column) and bool(node.this.args.get("quoted"))
    return quoted or isinstance(node, exp.Literal | exp.Parameter | exp.Placeholder | exp.Subquery)
