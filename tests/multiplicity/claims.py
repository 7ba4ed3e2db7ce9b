"""Claims that inference makes of a query, each as a query that finds its counterexamples.

Only what rests on enforced constraints alone is claimed here; such a claim holds on any data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sqlglot import exp

from modularsql.multiplicity.aggregates import within
from modularsql.multiplicity.algebra import Relation, union
from modularsql.multiplicity.grain import multiplied
from modularsql.multiplicity.model import Block, JoinKind, Query, Source
from modularsql.records import Evidence

ENFORCED = 0  # the grade's index


@dataclass(frozen=True)
class Claim:
    """One claim about the rows of a query, with a test that finds a row where it is wrong.

    The test reads the rows from `q`, whose columns are `c0`, `c1`, … `bold`: the claim follows
    from more than DISTINCT in the same block. `stored`: the rows must be stored as they are,
    since SQLite converts them where a query reads them.
    """

    kind: str
    words: str
    rows: str
    width: int
    test: str
    bold: bool = True
    stored: bool = False


def claims(query: Query, text: str, dialect: str) -> Iterator[Claim]:
    """All claims of a query and what it holds that can be checked by running it alone."""
    for one in queries(query):
        if _is_correlated(one):
            continue
        whole = text if one is query else standalone(one.node, dialect)
        if whole is None:
            continue
        if one.complete:
            for claim in _of_relation(one, whole):
                # Stored rows have lost their collations: 'a' and 'A' are settled alike, not equal.
                if not (one.mixed and claim.kind == "dependency"):
                    yield replace(claim, stored=bool(one.mixed))
        if one.block is not None:
            mixed = any(s.query is not None and s.query.mixed for s in one.block.sources)
            yield from (replace(c, stored=mixed) for c in _of_rows(one.block, dialect))


def queries(query: Query) -> Iterator[Query]:
    """The query and all that it reads or asks."""
    yield query
    inner = list(query.branches)
    if query.block is not None:
        inner += [source.query for source in query.block.sources if source.query is not None]
        inner += query.block.subqueries
    for one in inner:
        yield from queries(one)


def standalone(node: exp.Expr, dialect: str) -> str | None:
    """A part of a query as a query of its own, with the CTEs it may use; None inside these."""
    clauses: list[exp.Expr] = []
    child: exp.Expr = node
    level = node.parent
    while level is not None:
        if isinstance(level, exp.CTE) and _reads(level.this, level.alias):
            return None  # a part of a recursive CTE
        if isinstance(level, exp.With):
            clauses += list(level.expressions[: level.expressions.index(child)])
        elif level.args.get("with_") is not None and level.args["with_"] is not child:
            clauses += level.args["with_"].expressions
        child, level = level, level.parent
    sql = node.sql(dialect)
    if clauses:
        parts = ", ".join(clause.sql(dialect) for clause in clauses)
        whole = f"SELECT * FROM ({sql}) AS alone" if node.args.get("with_") else sql
        sql = f"WITH RECURSIVE {parts} {whole}"
    return sql


def _is_correlated(query: Query) -> bool:
    """Whether it means something only for a row of a query around it."""
    if query.block is not None:
        return query.block.correlated
    return any(_is_correlated(branch) for branch in query.branches)


def _reads(node: exp.Expr, name: str) -> bool:
    return any(table.name == name for table in node.find_all(exp.Table))


def _of_relation(query: Query, sql: str) -> Iterator[Claim]:
    """Keys, dependencies and NOT NULL of a result, over its columns by position."""
    relation = query.relation
    columns = [attribute for _, attribute in query.columns]
    width = len(columns)
    plain = query.block is None or query.block.is_distinct
    keys: list[set[int]] = []
    settled: dict[tuple[int, ...], set[int]] = {}
    sets = [s for size in (0, 1, 2) for s in combinations(range(width), size)]
    for chosen in dict.fromkeys([*sets, tuple(range(width))]):
        by = ", ".join(f"c{i}" for i in chosen) or "(SELECT 1)"
        # What follows from fewer columns need not be tested again.
        implied = [settled[s] for s in settled if set(s) < set(chosen)]
        settled[chosen] = _settled(relation, columns, chosen)
        new = settled[chosen].difference(*implied) if len(chosen) < 3 else set()
        if new:
            several = " OR ".join(
                f"COUNT(DISTINCT c{i}) > 1 OR COUNT(c{i}) NOT IN (0, COUNT(*))" for i in new
            )
            test = f"SELECT 1 FROM q GROUP BY {by} HAVING {several}"
            yield Claim("dependency", f"{chosen} settle {new}", sql, width, test)
        if any(key <= set(chosen) for key in keys):
            continue
        if relation.is_key(union(columns[i] for i in chosen)) == Evidence.ENFORCED:
            keys.append(set(chosen))
            test = f"SELECT 1 FROM q GROUP BY {by} HAVING COUNT(*) > 1"
            bold = not plain or len(chosen) < width
            yield Claim("key", f"{chosen} is a key", sql, width, test, bold)
    full = [i for i in range(width) if columns[i] & relation.not_null]
    if full:
        test = f"SELECT 1 FROM q WHERE {' OR '.join(f'c{i} IS NULL' for i in full)}"
        yield Claim("not null", f"{full} are not null", sql, width, test)


def _settled(relation: Relation, columns: Sequence[int], chosen: tuple[int, ...]) -> set[int]:
    """Other columns that the chosen ones determine."""
    reach = relation.closure(union(columns[i] for i in chosen), ENFORCED)
    return {i for i, a in enumerate(columns) if i not in chosen and not a & ~reach}


def _of_rows(block: Block, dialect: str) -> Iterator[Claim]:
    """That FROM and WHERE repeat no row of a source, or of two together, or none in a group."""
    tables = [s for s in block.sources if _identity(s) and s.kind != JoinKind.SEMI]
    entities: list[tuple[Source, ...]] = [(source,) for source in tables]
    entities += list(combinations(tables, 2))
    groups = _groups(block)
    found = []
    for entity in entities:
        if len(block.sources) <= len(entity):
            continue
        if multiplied(block, entity) is None:
            found.append((entity, False))
        elif groups and multiplied(block, entity, within(block)) is None:
            found.append((entity, True))
    columns = [(s, exp.column(name, table=s.alias)) for s in tables for name in _identity(s)]
    rows = _rows(block, [*(column for _, column in columns), *groups], dialect) if found else None
    width = len(columns) + len(groups)
    for entity, grouped in found if rows is not None else ():
        own = [f"c{i}" for i, (source, _) in enumerate(columns) if source in entity]
        by = own + [f"c{i}" for i in range(len(columns), width) if grouped]
        there = " AND ".join(f"{name} IS NOT NULL" for name in own)
        test = f"SELECT 1 FROM q WHERE {there} GROUP BY {', '.join(by)} HAVING COUNT(*) > 1"
        words = f"{', '.join(source.alias for source in entity)} not repeated"
        kind = "no fan-out in a group" if grouped else "no fan-out"
        yield Claim(kind, words, rows or "", width, test)


def _rows(block: Block, columns: Sequence[exp.Expr], dialect: str) -> str | None:
    """Some columns of the rows of FROM and WHERE, as a query."""
    select = block.select.copy()
    for clause in ("distinct", "group", "having", "order", "limit", "qualify"):
        select.set(clause, None)
    select.set("expressions", [c.copy().as_(f"r{i}") for i, c in enumerate(columns)])
    select.parent = block.select.parent
    return standalone(select, dialect)


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
