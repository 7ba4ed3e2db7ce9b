"""Results as typed bags of rows, and how two of them compare.

The guard's probe, the metrics and whatever groups candidates by their results use the same
functions, so that they mean the same by "the same rows".
"""

from modularsql.rows.cells import Row, comparable
from modularsql.rows.result import Rows, distinct_rows, dup_ratio

__all__ = ["Row", "Rows", "comparable", "distinct_rows", "dup_ratio"]
