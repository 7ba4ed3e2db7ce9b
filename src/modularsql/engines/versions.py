"""Versions of the libraries that decide what a query returns, for run records."""

import sqlite3
from importlib.metadata import PackageNotFoundError, version


def versions() -> dict[str, str]:
    """By name; only what is installed."""
    found = {"sqlite": sqlite3.sqlite_version}
    for name in ("duckdb", "sqlglot"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
