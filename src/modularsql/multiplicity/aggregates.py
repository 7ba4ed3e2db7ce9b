"""What an aggregate measures, and what copies of rows do to it."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.algebra import Relation, union
from modularsql.multiplicity.columns import conjuncts, own_columns, own_parts
from modularsql.multiplicity.grain import Multiplied, identities, present
from modularsql.multiplicity.model import Aggregate, Block, Source

SUMS = frozenset({"sum", "total", "fsum", "kahan_sum", "sumkahan"})
AVERAGES = frozenset(
    "avg median stddev stddevpop stddevsamp stddev_pop stddev_samp variance variancepop "
    "var_pop var_samp favg quantile mode".split()
)
COUNTS = frozenset({"count"})
EXTREMES = frozenset({"min", "max", "any_value", "anyvalue", "argmax", "argmin", "first", "last"})
LISTS = frozenset(
    "groupconcat group_concat string_agg listagg arrayagg array_agg list jsonarrayagg "
    "jsonobjectagg json_group_array json_group_object jsonb_group_array jsonb_group_object "
    "jsonb_agg json_arrayagg".split()
)
"""Names are sqlglot's keys, and the databases' own for functions it does not know."""


def within(block: Block) -> int:
    """The attributes that agree within a group."""
    return block.group or 0


def arguments(aggregate: Aggregate) -> list[exp.Expr]:
    """What it is applied to, without DISTINCT and an ORDER BY of its own; empty for COUNT(*)."""
    node = aggregate.node
    found = list(node.expressions) if isinstance(node, exp.Anonymous) else [node.this]
    while len(found) == 1 and isinstance(found[0], exp.Order | exp.Distinct):
        one = found[0]
        found = list(one.expressions) if isinstance(one, exp.Distinct) else [one.this]
    return [part for part in found if isinstance(part, exp.Expr) and not isinstance(part, exp.Star)]


def is_distinct(aggregate: Aggregate) -> bool:
    """Whether it drops equal values before it puts them together."""
    inner = aggregate.node.args.get("this")
    while isinstance(inner, exp.Order):
        inner = inner.this
    return aggregate.distinct or isinstance(inner, exp.Distinct)


def values(expression: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions whose value it may take: the branches of a CASE, never its conditions.

    A bare condition yields nothing: SUM(a = 1) counts rows, as SUM(CASE WHEN a = 1 THEN 1 …) does.
    """
    if isinstance(expression, exp.Case):
        parts = [branch.args.get("true") for branch in expression.args.get("ifs") or ()]
        parts.append(expression.args.get("default"))
    elif isinstance(expression, exp.If):
        parts = [expression.args.get("true"), expression.args.get("false")]
    elif isinstance(expression, exp.Paren | exp.Cast | exp.TryCast):
        parts = [expression.this]
    elif isinstance(expression, exp.Predicate | exp.Connector | exp.Not):
        return
    else:
        yield expression
        return
    for part in parts:
        if isinstance(part, exp.Expr):
            yield from values(part)


def measured(block: Block, aggregate: Aggregate) -> tuple[Source, ...]:
    """The sources whose rows an aggregate measures; none for COUNT(*) and conditional counts."""
    used = {
        id(block.columns[id(column)][0])
        for argument in arguments(aggregate)
        for value in values(argument)
        for column in own_columns(value)
        if id(column) in block.columns
    }
    return tuple(source for source in block.sources if id(source) in used)


def counts_rows(block: Block, aggregate: Aggregate) -> bool:
    """Whether it counts rows, of whichever table: COUNT(*), SUM(a = 1), AVG(CASE WHEN … THEN 1)."""
    kinds = SUMS | AVERAGES | COUNTS
    return aggregate.kind in kinds and not is_distinct(aggregate) and not measured(block, aggregate)


def is_immune(block: Block, aggregate: Aggregate, found: Multiplied, rows: Relation) -> bool:
    """Whether copies do not matter to an aggregate that sees them.

    So it is with MIN, MAX and DISTINCT, with the average of equally many copies, and with COUNT
    of a column of the parent for each parent: one row can only be counted with its children.
    """
    if is_distinct(aggregate):
        return True
    if aggregate.kind in COUNTS:
        return is_one_row(block, found.entity, rows)
    return aggregate.kind in AVERAGES and _evenly(block, found, rows)


def is_one_row(block: Block, entity: tuple[Source, ...], rows: Relation) -> bool:
    """Whether a group holds one row of the entity only."""
    return not identities(entity) & ~rows.closure(within(block))


def _evenly(block: Block, found: Multiplied, rows: Relation) -> bool:
    """Whether every row of the entity in a group is repeated equally often.

    So it is where the group has one row of it only, and where what repeats it hangs on the group
    alone (the average price of a bakery's loaves, beside the bakery's reviews).
    """
    if is_one_row(block, found.entity, rows):
        return True
    fixed = rows.closure(within(block))
    own = union(union(s.columns.values()) | s.relation.ids for s in found.multipliers)
    conditions = [(s.predicate.mentioned, s.predicate.opaque) for s in block.sources]
    where = block.select.args.get("where")
    for part in conjuncts(where.this if where else None):
        asks = any(isinstance(inner, exp.Query) for inner in own_parts(part))
        conditions.append((mentioned(part, block), asks))
    return not any(
        opaque or (attributes & own and attributes & ~own & ~fixed)
        for attributes, opaque in conditions
    )


def mentioned(expression: exp.Expr, block: Block) -> int:
    """The attributes an expression uses outside its subqueries."""
    found = (block.columns.get(id(column)) for column in own_columns(expression))
    return union(home[2] for home in found if home is not None)


def is_key_of_entity(block: Block, aggregate: Aggregate) -> bool:
    """Whether equal arguments mean the same row of the measured entity, within a group."""
    columns = mentioned(aggregate.node, block) | within(block)
    known = block.rows.closure(columns, not_null=present(block, aggregate.sources))
    return not identities(aggregate.sources) & ~known
