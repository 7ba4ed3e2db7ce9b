"""What copies of rows do to an aggregate."""

from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.grain import Multiplied, multiplied
from modularsql.multiplicity.model import Aggregate, Block

SUMS = frozenset({"sum", "total", "fsum", "kahan_sum"})
AVERAGES = frozenset({"avg", "median", "stddev", "variance", "favg", "quantile", "mode"})
COUNTS = frozenset({"count"})
LISTS = frozenset(
    "groupconcat group_concat string_agg listagg arrayagg array_agg list jsonarrayagg "
    "jsonobjectagg json_group_array json_group_object".split()
)
"""Names are sqlglot's keys, and the databases' own for functions it does not know."""


def repeats(block: Block, aggregate: Aggregate) -> Multiplied | None:
    """What makes an aggregate see rows of its measured entity more than once within a group.

    None where nothing can, where copies do not matter (MIN, MAX, DISTINCT), and for COUNT(*) and
    constants, which measure no entity.
    """
    if aggregate.distinct or not aggregate.sources:
        return None
    return multiplied(block, aggregate.sources, within(block))


def within(block: Block) -> int:
    """The attributes that agree within a group."""
    return block.group or 0


def is_key_of_entity(block: Block, aggregate: Aggregate) -> bool:
    """Whether equal arguments mean the same row of the measured entity."""
    columns = union(
        attribute
        for source, _, attribute in block.columns.values()
        if source in aggregate.sources and attribute & aggregate.mentioned
    )
    return all(source.relation.is_key(columns) is not None for source in aggregate.sources)
