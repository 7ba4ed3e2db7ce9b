"""Which rows are copies: Python's answer and the database's, over every kind of value."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from modularsql import Limits
from modularsql.guard.session import Session
from modularsql.ports import Engine
from modularsql.rows import Rows, distinct_rows, dup_ratio

SQLITE = """
1, 1.0 | 1, '1' | 'a', x'61' | NULL, NULL | 0, -0.0 | 1, TRUE | '', NULL | '', x'' | 'a', 'A' | 'a', 'a '
9007199254740993, 9007199254740992.0 | 9223372036854775807, 9223372036854775807.0
9e999, -9e999 | 1e-320, 0 | 'é', 'é' | char(97, 0, 98), char(97, 0, 99) | x'00', x'0000'
CAST(x'ff' AS TEXT), CAST(x'fe' AS TEXT) | CAST(x'ff' AS TEXT), CAST(x'ff' AS TEXT)
CAST(x'edb3bf' AS TEXT), CAST(x'ff' AS TEXT)
"""
DUCKDB = """
1, 1.0 | 1.10, 1.1 | 0.0::DOUBLE, '-0.0'::DOUBLE | 'nan'::DOUBLE, 'nan'::DOUBLE | NULL, 'nan'::DOUBLE
'nan'::FLOAT, '-nan'::FLOAT | 'inf'::DOUBLE, '-inf'::DOUBLE | TRUE, FALSE | 1, 2::HUGEINT
[1, 2], [1, 2] | [1, 2], [2, 1] | [NULL], [] | ['nan'::DOUBLE], ['nan'::DOUBLE] | [[1], []], [[1], NULL]
{'a': 1, 'b': NULL}, {'a': 1, 'b': NULL} | {'a': [1]}, {'a': [1]} | {'a': 'nan'::DOUBLE}, {'a': 1.0}
MAP {1: 2, 3: 4}, MAP {3: 4, 1: 2} | MAP {1: 2}, MAP {1: 2} | [1, 2]::INTEGER[2], [1, 2]::INTEGER[2]
'a'::BLOB, 'b'::BLOB | 'a', 'a' | 'a', 'A' | '', NULL | '101'::BIT, '0101'::BIT | 'é', 'é'
DATE '2026-01-01', DATE '2026-01-01' | TIME '10:00', TIME '10:00:00' | DATE '2026-01-01', NULL
TIMESTAMP '2026-01-01 00:00', TIMESTAMP '2026-01-01 00:00:00.000001'
TIMESTAMPTZ '2026-01-01 01:00+01', TIMESTAMPTZ '2026-01-01 00:00+00'
INTERVAL 1 MONTH, INTERVAL 30 DAY | INTERVAL 24 HOUR, INTERVAL 1 DAY | INTERVAL 1 YEAR, INTERVAL 12 MONTH
uuid '00000000-0000-0000-0000-000000000001', uuid '00000000000000000000000000000001'
1e30::DECIMAL(38, 0), 1e30::DOUBLE | 0.1::FLOAT, 0.1::DOUBLE | 'infinity'::DATE, NULL
"""
PAIRS = [
    (kind, *pair.strip().rsplit(", ", 1) if kind == "sqlite" else pair.strip().partition(", ")[::2])
    for kind, text in (("sqlite", SQLITE),)
    for line in text.strip().splitlines()
    for pair in line.split(" | ")
]
