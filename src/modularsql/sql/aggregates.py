"""Whether a query aggregates anywhere (paper, appendix D)."""

from sqlglot import exp

# What the databases have and sqlglot does not know as aggregates. The tests compare with the
# databases' own lists.
_UNKNOWN_TO_SQLGLOT = frozenset(
    """
    arbitrary arg_max_null arg_max_nulls_last arg_min_null arg_min_nulls_last bitstring_agg
    combine_aggr count_star decimal_average entropy favg fsum histogram histogram_exact kahan_sum
    kurtosis_pop lttb mad mean percentile product reservoir_quantile sem sum_no_overflow sumkahan
    total variant_group_object
    """.split()
)


def aggregates(tree: exp.Expr) -> bool:
    """Whether the query, subqueries included, aggregates or groups.

    Window functions count: they, too, look at more than one row, and `SELECT DISTINCT … OVER` is
    a way to group.
    """
    if tree.find(exp.AggFunc, exp.Group, exp.Window) is not None:
        return True
    return any(
        function.name.lower() in _UNKNOWN_TO_SQLGLOT for function in tree.find_all(exp.Anonymous)
    )
