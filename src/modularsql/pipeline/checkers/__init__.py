"""The chain of checkers: syntax, logic, quality (paper, table 2), our own, then BIRD's habits."""

from modularsql.pipeline.checkers.base import Checker
from modularsql.pipeline.checkers.concatenation import concatenation
from modularsql.pipeline.checkers.extreme import extreme
from modularsql.pipeline.checkers.grain import grain
from modularsql.pipeline.checkers.join import join
from modularsql.pipeline.checkers.max_min import max_min
from modularsql.pipeline.checkers.null_order import null_order
from modularsql.pipeline.checkers.order_limit import order_limit
from modularsql.pipeline.checkers.ratio import ratio
from modularsql.pipeline.checkers.result import result
from modularsql.pipeline.checkers.select import select
from modularsql.pipeline.checkers.syntax import syntax
from modularsql.pipeline.checkers.time import time

CHECKERS: tuple[Checker, ...] = (
    Checker(name="syntax", check=syntax),
    Checker(name="join", check=join),
    Checker(name="order_limit", check=order_limit),
    Checker(name="time", check=time),
    Checker(name="select", check=select),
    Checker(name="max_min", check=max_min),
    Checker(name="null_order", check=null_order),
    Checker(name="result", check=result),
    Checker(name="grain", check=grain),
    Checker(name="ratio", check=ratio, profile="bird"),
    Checker(name="extreme", check=extreme, profile="bird"),
    Checker(name="concatenation", check=concatenation, profile="bird"),
)
"""By the names that `--without revision.NAME` takes."""
