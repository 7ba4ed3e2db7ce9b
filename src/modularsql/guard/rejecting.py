"""Where in a query its database stopped reading.

SQLite, DuckDB, PostgreSQL and MySQL quote the text at which they stopped (`near "FORM"`), and only
some say where it stands; Python's sqlite3 does not.
"""

import re

from modularsql.records import Failure
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Statement

_NEAR = re.compile(r"near ([\"'])\s*(\S.*)\1", re.DOTALL)


def rejected_at(failure: Failure, statement: Statement) -> tuple[int, int] | None:
    """Line and column of what the message quotes; None where that is not certain.

    Certain is what the text holds once, and what our own parser stopped at, too.
    """
    quoted = _NEAR.search(failure.message)
    if quoted is None:
        return None
    words, text, tree = quoted[2], statement.text, statement.tree
    if text.count(words) == 1:
        return statement.place(text.index(words))
    if isinstance(tree, Unparsed) and text.startswith(words, tree.at):
        return statement.place(tree.at)
    return None
