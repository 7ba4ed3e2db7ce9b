"""Whether a query aggregates anywhere (paper, appendix D)."""

from sqlglot import exp

# What the databases have and sqlglot does not know as aggregates. The tests compare with the
# databases' own lists.
_UNKNOWN_TO_SQLGLOT = frozenset(
    """
    arbitrary arg_max_null arg_max_nulls_last arg_min_null arg_min_nulls_last array_agg
    bitstring_agg combine_aggr count_star decimal_average entropy every favg fsum group_concat
    histogram histogram_exact json_arrayagg json_group_array json_group_object jsonb_agg
    jsonb_group_array jsonb_group_object jsonb_object_agg kahan_sum kurtosis_pop list listagg lttb
    mad mean median mode percentile product range_agg range_intersect_agg reservoir_quantile sem
    string_agg sum_no_overflow sumkahan total variant_group_object xmlagg
    """.split()
)


def is_aggregate(part: exp.Expr) -> bool:
    """Whether a part puts rows together, by sqlglot's classes or by name."""
    if isinstance(part, exp.AggFunc):
        return True
    return isinstance(part, exp.Anonymous) and part.name.lower() in _UNKNOWN_TO_SQLGLOT


def aggregates(tree: exp.Expr) -> bool:
    """Whether the query, subqueries included, aggregates or groups.

    Window functions count: they, too, look at more than one row, and `SELECT DISTINCT … OVER` is
    a way to group.
    """
    if tree.find(exp.AggFunc, exp.Group, exp.Window) is not None:
        return True
    return any(map(is_aggregate, tree.find_all(exp.Anonymous)))
