"""The tables a question needs, connected: keys, foreign keys and bridge tables (paper, S4).

The paper adds the key columns between linked tables; where no foreign key joins two of them
directly, the tables on a shortest path between them are added as well.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from modularsql.catalog import Catalog, ForeignKey, Table
from modularsql.pipeline.state import Linked, Place

Edges = Mapping[str, list[tuple[str, Table, ForeignKey]]]


def closed(found: Mapping[Place, tuple[str, ...]], catalog: Catalog) -> Linked:
    """Linked places with their reasons, closed over keys; the whole schema where there are none."""
    reasons = dict(found)
    tables = list(dict.fromkeys(table for table, _ in reasons))
    if not tables:
        return whole(catalog, "nothing was linked, so the whole schema stands in")
    for place, why in _joining(tables, catalog):
        reasons.setdefault(place, ())
        if why not in reasons[place]:
            reasons[place] = (*reasons[place], why)
    for table in [t for t in catalog if any(name == t.name for name, _ in reasons)]:
        reasons.setdefault((table.name, None), ("a column of it is linked",))
        for key in table.keys:
            if key.kind == "primary":
                for column in key.columns:
                    reasons.setdefault((table.name, column), ("primary key",))
    return Linked(columns=_columns(reasons, catalog), reasons=reasons)


def whole(catalog: Catalog, why: str) -> Linked:
    """Every table and column."""
    columns = {t.name: tuple(c.name for c in t.columns) for t in catalog if t.problem is None}
    return Linked(columns=columns, reasons={(t, None): (why,) for t in columns}, whole=True)


def _columns(
    reasons: Mapping[Place, tuple[str, ...]], catalog: Catalog
) -> dict[str, tuple[str, ...]]:
    linked = {table for table, _ in reasons}
    return {
        table.name: tuple(c.name for c in table.columns if (table.name, c.name) in reasons)
        for table in catalog
        if table.name in linked
    }


def _joining(tables: list[str], catalog: Catalog) -> Iterator[tuple[Place, str]]:
    """Tables and columns that connect the linked tables."""
    edges = _edges(catalog)
    together = [tables[0]]
    for table in tables[1:]:
        for child, key in _path(table, together, edges):
            parent = catalog.referred(key)
            assert parent is not None
            why = f"joins {child.name} to {parent.name}"
            for end, columns in ((child, key.columns), (parent, key.target_columns)):
                linked = end.name in tables
                yield (end.name, None), why if linked else f"on the way: {why}"
                for column in columns:
                    found = end.column(column)
                    if found is not None:
                        yield (end.name, found.name), why
        together.append(table)
    # Every direct foreign key between linked tables, also beside the path taken.
    for name in tables:
        for other, child, key in edges.get(name, ()):
            if other in tables and child.name == name:
                yield from _ends(child, key, catalog)


def _ends(child: Table, key: ForeignKey, catalog: Catalog) -> Iterator[tuple[Place, str]]:
    parent = catalog.referred(key)
    assert parent is not None
    why = f"joins {child.name} to {parent.name}"
    for end, columns in ((child, key.columns), (parent, key.target_columns)):
        for column in columns:
            found = end.column(column)
            if found is not None:
                yield (end.name, found.name), why


def _edges(catalog: Catalog) -> Edges:
    edges: dict[str, list[tuple[str, Table, ForeignKey]]] = {}
    for child in catalog:
        for key in child.foreign_keys:
            parent = catalog.referred(key) if key.resolved else None
            if parent is None:
                continue
            edges.setdefault(child.name, []).append((parent.name, child, key))
            edges.setdefault(parent.name, []).append((child.name, child, key))
    return edges


def _path(start: str, goals: Iterable[str], edges: Edges) -> list[tuple[Table, ForeignKey]]:
    """The foreign keys of a shortest path from a table to one of the goals; [] where none is."""
    wanted, seen = set(goals), {start}
    waiting: deque[tuple[str, list[tuple[Table, ForeignKey]]]] = deque([(start, [])])
    while waiting:
        table, path = waiting.popleft()
        if table in wanted:
            return path
        for other, child, key in edges.get(table, ()):
            if other not in seen:
                seen.add(other)
                waiting.append((other, [*path, (child, key)]))
    return []
