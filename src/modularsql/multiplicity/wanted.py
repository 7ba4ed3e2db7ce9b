"""Keys that nobody declared and a finding hangs on: which columns to look at, and no others.

Only columns that a join compares, an output shows or a COUNT counts, and only of tables of which
no key among them is known. What the data says of them becomes a key of grade `observed`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from modularsql.catalog import Catalog, ForeignKey, Key, Table
from modularsql.declared.guess import guess_foreign_keys
from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.grain import returned
from modularsql.multiplicity.measure import identity_of
from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rules.facts.misnamed import misnamed
from modularsql.records import Evidence

_MOST_KEYS = 8  # of one query
_WIDEST = 4  # columns of one key

Columns = tuple[str, ...]


def candidates(issues: Iterable[Issue], catalog: Catalog) -> Catalog:
    """The tables of some issues, each with the keys that may be observed and none else."""
    wanted: dict[int, tuple[Table, list[Columns]]] = {}
    blocks = {id(issue.block): issue.block for issue in issues if is_open(issue)}
    apart = {id(issue.block) for issue in issues if _is_apart(issue)}
    left = _MOST_KEYS
    for block in blocks.values():
        for source in block.sources:
            if source.table is None or source.table.problem:
                continue
            _, found = wanted.setdefault(id(source.table), (source.table, []))
            needed = [
                *_needed(source, block),
                *(_shared(source, block) if id(block) in apart else ()),
            ]
            for columns in needed:
                if columns not in found and left:
                    found.append(columns)
                    left -= 1
    tables = (_with_candidates(table, found) for table, found in wanted.values() if found)
    return _of(catalog, tuple(tables))


def is_open(issue: Issue) -> bool:
    """Whether only the data can tell, or not even that: for want of keys."""
    if _is_apart(issue):
        return True
    if not issue.multipliers:
        return False
    nameless = any(s.table is not None and identity_of(s) is None for s in issue.entity)
    return issue.evidence == Evidence.ASSUMED or nameless or issue.block.correlated


def references(issues: Iterable[Issue], catalog: Catalog) -> Catalog:
    """Tables that no condition connects, with the foreign keys that their names suggest.

    So does a condition that compares a table with itself, where another table has a key of one of
    its names. None between tables where one is declared: it says how they belong together.
    """
    found: dict[tuple[str, str], Table] = {}
    apart = [issue for issue in issues if _is_apart(issue)]
    for block in {id(i.block): i.block for i in apart}.values():
        names = {(s.table.schema, s.table.name) for s in block.sources if s.table is not None}
        tables = tuple(t for t in catalog if (t.schema, t.name) in names)
        if any(fk.refers_to(t) for table in tables for fk in table.foreign_keys for t in tables):
            continue
        for before, after in zip(tables, guess_foreign_keys(_of(catalog, tables)), strict=True):
            new = tuple(fk for fk in after.foreign_keys if fk not in before.foreign_keys)
            meant = (_meant(i, after) for i in apart if i.block is block)
            new = (*new, *(fk for fks in meant for fk in fks if fk not in new))
            found[before.schema, before.name] = replace(after, keys=(), foreign_keys=new)
    return _of(catalog, tuple(found.values()))


def _meant(issue: Issue, table: Table) -> Iterator[ForeignKey]:
    """What a condition on one table alone would say, were one of its two names another table's."""
    for one in misnamed(issue.block, issue.node):
        (child, ours), (parent, theirs) = one.kept, one.other
        if child.table is None or parent.table is None or child.table.name != table.name:
            continue
        mine, its = child.table.column(ours), parent.table.column(theirs)
        if mine is None or its is None or mine.type.upper() != its.type.upper():
            continue
        if any(key.columns == (its.name,) for key in parent.table.keys):
            yield ForeignKey(
                columns=(mine.name,),
                target=parent.table.name,
                target_schema=parent.table.schema,
                target_columns=(its.name,),
                evidence=Evidence.ASSUMED,
            )


def with_observed(catalog: Catalog, observed: Catalog) -> Catalog:
    """The catalog with the keys and foreign keys that were observed."""
    more = {(t.schema, t.name): t for t in observed if t.keys or t.foreign_keys}
    if not more:
        return catalog
    tables = (_with(table, more.get((table.schema, table.name))) for table in catalog)
    return _of(catalog, tuple(tables))


def _with(table: Table, more: Table | None) -> Table:
    if more is None:
        return table
    seen = tuple(replace(key, evidence=Evidence.OBSERVED) for key in more.foreign_keys)
    return replace(table, keys=(*table.keys, *more.keys), foreign_keys=(*table.foreign_keys, *seen))


def _of(catalog: Catalog, tables: tuple[Table, ...]) -> Catalog:
    return replace(catalog, tables=tables)


def _is_apart(issue: Issue) -> bool:
    return "add_join_predicate" in issue.rewrites


def _with_candidates(table: Table, found: list[Columns]) -> Table:
    keys: list[Key] = []
    for columns in found:
        given = [column for column in map(table.column, columns) if column is not None]
        names = tuple(column.name for column in given)
        # NULLs may keep rows from being told apart, and yet meet no join.
        kinds = (False, True) if any(column.nullable for column in given) else (False,)
        keys += [
            Key(columns=names, kind="unique", null_distinct=kind, evidence=Evidence.OBSERVED)
            for kind in kinds
        ]
    return replace(table, keys=tuple(keys), foreign_keys=())


def _needed(source: Source, block: Block) -> Iterator[Columns]:
    assert source.table is not None
    known = [{name.casefold() for name in key.columns} for key in source.table.keys]
    joined = _names(source, _compared(block))
    sets = [tuple(joined), *((name,) for name in joined)]
    if not known:
        shown = _names(source, returned(block))
        counted = _names(source, union(a.mentioned for a in block.aggregates))
        sets += [(name,) for name in dict.fromkeys((*shown, *counted))]
    for columns in dict.fromkeys(sets):
        if 0 < len(columns) <= _WIDEST and not any(key <= set(columns) for key in known):
            yield columns


def _shared(source: Source, block: Block) -> Iterator[Columns]:
    """Columns named like one of another table: they may say which rows belong together."""
    others = {name for other in block.sources if other is not source for name in other.columns}
    table = source.table
    for name in source.columns:
        if table is not None and not table.keys and name in others and table.column(name):
            yield (name,)


def _compared(block: Block) -> int:
    """The attributes that conditions compare with others, or with one value."""
    conditions = [block.where, *(source.predicate for source in block.sources)]
    pairs = union(union(pair) for condition in conditions for pair in condition.equal)
    return pairs | union(condition.constant for condition in conditions)


def _names(source: Source, attributes: int) -> list[str]:
    """The source's columns among some attributes, as its table has them."""
    table = source.table
    names = (name for name, attribute in source.columns.items() if attribute & attributes)
    return [name for name in names if table is not None and table.column(name) is not None]
