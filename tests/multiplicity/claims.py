"""Claims that inference makes of a query's relations, each as a test that finds a counterexample.

Only what rests on enforced constraints alone is claimed here; such a claim holds on any data.
A test reads the rows of its relation from `q`, whose columns are `c0`, `c1`, …
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import NamedTuple

from sqlglot import exp

from modularsql.multiplicity.aggregates import within
from modularsql.multiplicity.algebra import Relation, union
from modularsql.multiplicity.grain import multiplied
from modularsql.multiplicity.model import UNNAMED, Block, JoinKind, Query, Source

from .relations import Rows, Writer, prefixes, queries

ENFORCED = 0  # the grade's index
MOST_COLUMNS = 4  # of a relation that are taken in pairs
MOST_SINGLES = 6  # that are taken alone


class Claim(NamedTuple):
    """One claim; `bold`: it follows from more than DISTINCT in the same block."""

    kind: str
    words: str
    test: str
    bold: bool = True


@dataclass(frozen=True)
class Claimed:
    """The claims about one relation of a query, and that relation: `width` columns of `rows`.

    `stored`: its rows must be stored as they are, since SQLite converts them where a query reads
    them. Stored rows have lost their collations.
    """

    rows: Rows
    width: int
    claims: tuple[Claim, ...]
    stored: bool = False


def claimed(query: Query, text: str, dialect: str) -> Iterator[Claimed]:
    """Every relation of a query, written as `text`, of which something is claimed."""
    writer, seen = Writer(dialect), set[str]()
    for one in queries(query):
        for found in _of_query(one, text if one is query else None, writer):
            # A CTE that is read twice makes the same claims twice.
            key = f"{found.rows}{found.claims}"
            if found.claims and key not in seen:
                seen.add(key)
                yield found


def _of_query(query: Query, text: str | None, writer: Writer) -> Iterator[Claimed]:
    whole = Rows(text) if text is not None else writer.whole(query)
    if whole is not None and query.complete:
        columns = [attribute for _, attribute in query.columns]
        plain = query.block is None or query.block.is_distinct
        claims = _of_columns(query.relation, columns, plain, bool(query.mixed))
        yield Claimed(whole, len(columns), tuple(claims), bool(query.mixed))
    block = query.block
    if block is not None:
        mixed = any(s.query is not None and s.query.mixed for s in block.sources)
        yield from _of_prefixes(block, writer, mixed)
        yield from _of_rows(block, writer, mixed)


def _of_columns(
    relation: Relation, columns: Sequence[int], plain: bool, mixed: bool
) -> Iterator[Claim]:
    """Keys, dependencies, constants and NOT NULL of columns by position.

    Each also as it holds among rows without NULL in what it starts from.
    """
    width = len(columns)
    singles = [(column,) for column in range(min(width, MOST_SINGLES))]
    sets = [(), *singles, *combinations(range(min(width, MOST_COLUMNS)), 2)]
    keys: list[set[int]] = []
    settled: dict[tuple[int, ...], set[int]] = {}
    for chosen in dict.fromkeys([*sets, tuple(range(width))]):
        of = union(columns[i] for i in chosen)
        for known in (0, of) if of else (0,):
            there = _there(chosen) if known else ""
            by = ", ".join(f"c{i}" for i in chosen) or "(SELECT 1)"
            rows = f"SELECT 1 FROM q {there}GROUP BY {by} HAVING "
            reach = relation.closure(of, ENFORCED, known)
            found = {i for i, a in enumerate(columns) if i not in chosen and not a & ~reach}
            # What follows from fewer columns need not be tested again.
            new = found.difference(*(settled[s] for s in settled if set(s) <= set(chosen)))
            settled[chosen] = found
            if new and len(chosen) < 3 and not mixed:
                several = " OR ".join(
                    f"COUNT(DISTINCT c{i}) > 1 OR COUNT(c{i}) NOT IN (0, COUNT(*))" for i in new
                )
                kind = ("constant" if not chosen else "dependency") + _among(known)
                yield Claim(kind, f"{chosen} settle {new}", rows + several)
            is_new = not any(key <= set(chosen) for key in keys)
            if is_new and not relation.ids & ~reach:
                keys.append(set(chosen))
                bold = not plain or len(chosen) < width
                words = f"{chosen} is a key"
                yield Claim("key" + _among(known), words, f"{rows}COUNT(*) > 1", bold)
    full = [i for i in range(width) if columns[i] & relation.not_null]
    if full:
        test = f"SELECT 1 FROM q WHERE {' OR '.join(f'c{i} IS NULL' for i in full)}"
        yield Claim("not null", f"{full} are not null", test)


def _there(chosen: Sequence[int]) -> str:
    return f"WHERE {' AND '.join(f'c{i} IS NOT NULL' for i in chosen)} "


def _among(known: int) -> str:
    return " without NULL" if known else ""


def _of_prefixes(block: Block, writer: Writer, mixed: bool) -> Iterator[Claimed]:
    """What stands in FROM up to a join, but for rows that later conditions reject."""
    for number, before in prefixes(block, writer.dialect):
        later = [source for source in block.sources if source not in before]
        relation = before[-1].after
        if relation is None or any(s.kind == JoinKind.SEMI for s in before):
            continue
        names, columns = _columns(before)
        rejected = block.where.not_null | union(
            s.predicate.not_null for s in later if s.kind != JoinKind.LEFT or s.undone
        )
        rows = writer.rows(block, names, number)
        if rows is None or rejected & union(_all(before)) & ~union(columns):
            continue
        kept = [i for i, attribute in enumerate(columns) if attribute & rejected]
        if kept:
            there = " AND ".join(f"r{i} IS NOT NULL" for i in kept)
            rows = Rows(f"SELECT * FROM ({rows.sql}) AS met WHERE {there}", rows.around)
        found = _of_columns(relation, columns, False, mixed)
        claims = (c._replace(kind=f"{c.kind} of a prefix") for c in found)
        yield Claimed(rows, len(columns), tuple(claims), mixed)


def _columns(sources: Sequence[Source]) -> tuple[list[str], list[int]]:
    """Some columns of each source: as SQL, and their attributes."""
    known = [
        [(f'{s.alias}."{n}"', a) for n, a in s.columns.items() if not n.startswith(UNNAMED)][:3]
        for s in sources
        if s.kind != JoinKind.SEMI
    ]
    # The first of each come first: these are taken in pairs.
    found = [one for level in zip_longest(*known) for one in level if one is not None]
    return [name for name, _ in found], [attribute for _, attribute in found]


def _all(sources: Sequence[Source]) -> list[int]:
    return [attribute for source in sources for attribute in source.columns.values()]


def _of_rows(block: Block, writer: Writer, mixed: bool) -> Iterator[Claimed]:
    """That FROM and WHERE repeat no row of a source, or of two together, or none in a group."""
    tables = [s for s in block.sources if _identity(s) and s.kind != JoinKind.SEMI]
    entities: list[tuple[Source, ...]] = [(source,) for source in tables]
    entities += list(combinations(tables, 2))
    groups = _groups(block)
    found = []
    for entity in entities if len(block.sources) > 1 else ():
        if len(block.sources) <= len(entity):
            continue
        if multiplied(block, entity) is None:
            found.append((entity, False))
        elif groups and multiplied(block, entity, within(block)) is None:
            found.append((entity, True))
    columns = [(s, f"{s.alias}.{name}") for s in tables for name in _identity(s) if found]
    names, attributes = _columns(block.sources)
    texts = [*names, *(column for _, column in columns), *(writer.text(term) for term in groups)]
    rows = writer.rows(block, texts)
    if rows is None:
        return
    first, width = len(names), len(texts)
    kinds = (
        c._replace(kind=f"{c.kind} of FROM")
        for c in _of_columns(block.rows, attributes, False, mixed)
    )
    claims = list(kinds) if len(block.sources) > 1 else []
    for entity, in_group in found:
        own = [f"c{first + i}" for i, (source, _) in enumerate(columns) if source in entity]
        by = own + [f"c{i}" for i in range(first + len(columns), width) if in_group]
        there = " AND ".join(f"{name} IS NOT NULL" for name in own)
        test = f"SELECT 1 FROM q WHERE {there} GROUP BY {', '.join(by)} HAVING COUNT(*) > 1"
        words = f"{', '.join(source.alias for source in entity)} not repeated"
        claims.append(Claim("no fan-out in a group" if in_group else "no fan-out", words, test))
    yield Claimed(rows, width, tuple(claims), mixed)


def _identity(source: Source) -> tuple[str, ...]:
    """Columns that tell a table's rows apart: a key without NULL, else the row id."""
    if source.table is None:
        return ()
    keys = [key.columns for key in source.table.keys if not key.null_distinct]
    return keys[0] if keys else (source.table.row_id,) if source.table.row_id else ()


def _groups(block: Block) -> list[exp.Expr]:
    """The terms of GROUP BY, positions and aliases replaced by what they stand for."""
    group = block.select.args.get("group")
    terms = []
    for term in group.expressions if group and not block.is_regrouped else ():
        found = term
        if isinstance(term, exp.Literal) and not term.is_string:
            found = block.outputs[int(term.this) - 1].expression
        elif isinstance(term, exp.Column) and not term.table:
            seen = any(term.name.casefold() in source.columns for source in block.sources)
            same = [o.expression for o in block.outputs if o.name == term.name]
            found = same[0] if same and not seen else term
        terms.append(found)
    return terms
