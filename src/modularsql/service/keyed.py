"""An engine whose catalog also holds the keys that a file asserts and the data upholds."""

from collections.abc import Hashable
from dataclasses import replace

from modularsql.catalog import Catalog
from modularsql.declared.checks import Check, apply_results, checks
from modularsql.declared.facts import Declared
from modularsql.declared.merge import merge
from modularsql.ports import Engine, Outcome, Versioned, catalog_of
from modularsql.records import Limits, Params
from modularsql.rows import Rows


class KeyedEngine:
    """Wraps an `Engine`: same queries, a richer catalog.

    Assertions lie, so each is checked on the data once, before it is believed; `problems` says
    which the data violates, and what the file says of tables that are not there.
    """

    def __init__(self, engine: Engine, declared: Declared, limits: Limits) -> None:
        self._engine = engine
        self._limits = limits
        self._declared = declared
        self._counts: dict[Check, int | None] = {}
        self._named = frozenset(table.schema for table in declared.catalog if table.schema)
        checked = self._checked(catalog_of(engine, self._named))
        self._catalog = checked.catalog
        self.problems = (*declared.problems, *checked.problems)
        self.name, self.dialect = engine.name, engine.dialect

    def _checked(self, catalog: Catalog) -> Declared:
        """The catalog with the assertions that hold; what was counted before is not again."""
        merged = merge(catalog, self._declared)
        asked = checks(merged.catalog)
        for check in asked:
            if check not in self._counts:
                self._counts[check] = self._violations(check.sql)
        checked = apply_results(merged.catalog, {check: self._counts[check] for check in asked})
        return replace(checked, problems=(*merged.problems, *checked.problems))

    def _violations(self, sql: str) -> int | None:
        outcome = self._engine.execute(sql, limits=replace(self._limits, max_rows=1))
        return int(outcome.rows[0][0]) if isinstance(outcome, Rows) and outcome.rows else None

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """See `ports.Engine`."""
        return self._engine.execute(sql, params, limits=limits)

    def catalog(self) -> Catalog:
        """The engine's catalog with the assertions that held."""
        return self._catalog

    def catalog_with(self, schemas: frozenset[str]) -> Catalog:
        """See `ports.Spanning`."""
        return self._checked(catalog_of(self._engine, schemas | self._named)).catalog

    def compares_bytes(self) -> bool:
        """See `ports.Engine`."""
        return self._engine.compares_bytes()

    def version(self) -> Hashable:
        """See `ports.Versioned`."""
        return self._engine.version() if isinstance(self._engine, Versioned) else None

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()
