"""What can be enforced on databases behind SQLAlchemy, as data; what is not in here is not.

`tested` names where an entry was seen to hold: on a running database, or by its manual alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from modularsql.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one SQLAlchemy dialect lets us enforce.

    `begin` are statements run before each query, with `{seconds}` and `{ms}` for what is left of
    the time. `read_only` says that they keep the query from writing. `proof` is a query that gives
    1 where they did: a session that is read-only already may not be told so again. `keys` is the
    evidence of declared keys, None where a PRIMARY KEY is no key at all (ClickHouse).
    """

    dialect: str = ""
    begin: tuple[str, ...] = ()
    proof: str = ""
    read_only: bool = False
    time: bool = False
    keys: Evidence | None = Evidence.ASSERTED
    tested: Literal["run", "manual"] = "manual"

    def missing(self) -> tuple[str, ...]:
        """What nobody enforces, in words."""
        parts = {
            "that it only reads": self.read_only,
            "its time on the server": self.time,
            "which functions it calls": False,
            "the memory of one row": False,
        }
        return tuple(words for words, holds in parts.items() if not holds)


UNKNOWN = Capabilities()
CAPABILITIES: Mapping[str, Capabilities] = {
    # readonly = 1 cannot be undone in the session, and forbids settings, files and URLs as well.
    # chDB has one session in a process: the first engine makes all others read-only.
    "chdb": Capabilities(
        dialect="clickhouse",
        begin=("SET max_execution_time = {seconds}", "SET readonly = 1"),
        proof="SELECT getSetting('readonly')",
        read_only=True,
        keys=None,
        tested="run",
    ),
    "clickhouse": Capabilities(
        dialect="clickhouse",
        keys=None,
        begin=("SET max_execution_time = {seconds}", "SET readonly = 1"),
        read_only=True,
        time=True,
    ),
    "oracle": Capabilities(
        dialect="oracle",
        begin=("SET TRANSACTION READ ONLY",),
        read_only=True,
        keys=Evidence.ENFORCED,
    ),
    "cockroachdb": Capabilities(
        dialect="postgres",
        begin=("SET TRANSACTION READ ONLY", "SET LOCAL statement_timeout = {ms}"),
        read_only=True,
        time=True,
        keys=Evidence.ENFORCED,
    ),
    "mssql": Capabilities(dialect="tsql", keys=Evidence.ENFORCED),
    "snowflake": Capabilities(
        dialect="snowflake",
        begin=("ALTER SESSION SET STATEMENT_TIMEOUT_IN_SECONDS = {seconds}",),
        time=True,
    ),
    "bigquery": Capabilities(dialect="bigquery"),
    "redshift": Capabilities(
        dialect="redshift",
        begin=("SET transaction_read_only = on", "SET statement_timeout = {ms}"),
        read_only=True,
        time=True,
    ),
    "trino": Capabilities(
        dialect="trino", begin=("SET SESSION query_max_run_time = '{seconds}s'",), time=True
    ),
    "presto": Capabilities(dialect="presto"),
    "awsathena": Capabilities(dialect="athena"),
    "teradatasql": Capabilities(dialect="teradata"),
    "databricks": Capabilities(dialect="databricks"),
    "hive": Capabilities(dialect="hive"),
    "sqlite": Capabilities(
        dialect="sqlite",
        begin=("PRAGMA query_only = 1",),
        proof="PRAGMA query_only",
        read_only=True,
        tested="run",
    ),
}
