"""How queries, results and schemas are put before a model: as data, in short."""

from collections.abc import Iterable

from sqlglot import exp

from modularsql.asking.prompts import as_data, clipped
from modularsql.asking.results import result_text
from modularsql.catalog import Catalog, Table
from modularsql.guard.candidates import Tried
from modularsql.guard.choosing import Case
from modularsql.multiplicity.grain import multiplied, output_entity
from modularsql.multiplicity.model import Query
from modularsql.multiplicity.words import names
from modularsql.sql.quote import quoted

LONGEST_SQL, LONGEST_SCHEMA = 600, 1_500  # characters (paper, appendix C)
LONGEST_QUESTION = 2_000


def sql_of(tried: Tried) -> str:
    """The SQL in one line, cut to 600 characters."""
    return clipped(" ".join(tried.sql.split()), LONGEST_SQL)


def candidate(tried: Tried, values: bool) -> str:
    """A query with its result, as the paper shows it."""
    return f"SQL: {sql_of(tried)}\nResult: {_result_of(tried, values)}"


def _result_of(tried: Tried, values: bool) -> str:
    outcome = tried.failure if tried.rows is None else tried.rows
    return result_text(outcome, values, tried.probe.rows)


def with_grain(tried: Tried, values: bool) -> str:
    """The same with the share of copies, the measured findings, and what a row stands for."""
    facts = []
    if tried.probe.dup_ratio is not None:
        facts.append(f"copies: {tried.probe.dup_ratio:.0%}")
    facts += [f"finding: {said}" for said in _findings(tried)]
    if (grain := grain_of(tried.query)) is not None:
        facts.append(f"one row per {grain}")
    return "\n".join([candidate(tried, values), *facts])


def _findings(tried: Tried) -> Iterable[str]:
    for one in tried.seen.issues:
        factor = one.finding.measured.get("factor")
        times = f", rows repeat {factor:g} times on average" if factor else ""
        yield f"{one.finding.rule}{times}"


def grain_of(query: Query | None) -> str | None:
    """What one row of the result stands for, in words: `payment`, `customer and month`."""
    block = query.block if query is not None else None
    if block is None:
        return None
    group = block.select.args.get("group")
    if group is not None:
        keys = [quoted(key) for key in group.expressions]
        return clipped(" and ".join(keys), 120) or None
    if block.is_aggregate:
        return "result (all rows put together)"
    if block.is_distinct:
        columns = [output.name for output in block.outputs if output.name]
        return clipped(f"different {', '.join(columns)}", 120) if columns else None
    entity = output_entity(block) or tuple(block.sources)
    repeated = multiplied(block, entity)
    sources = entity if repeated is None else repeated.independent
    return names(sources, block) if sources else None


def schema_of(case: Case) -> str:
    """The tables that the queries read, then the others, in 1,500 characters."""
    read = {
        table.name.casefold()
        for tried in (case.base, *case.pool)
        if tried.statement is not None and isinstance(tried.statement.tree, exp.Expr)
        for table in tried.statement.tree.find_all(exp.Table)
    }
    tables = sorted(case.catalog, key=lambda table: table.name.casefold() not in read)
    return as_data("\n".join(map(_table, tables)), LONGEST_SCHEMA)


def _table(table: Table) -> str:
    parts = [f"{column.name} {column.type}".strip() for column in table.columns]
    parts += [f"{key.kind} key ({', '.join(key.columns)})" for key in table.keys]
    parts += [f"{', '.join(fk.columns)} refers to {fk.target}" for fk in table.foreign_keys]
    return f"{table.name}({', '.join(parts)})"


def words_of(case: Case) -> dict[str, str]:
    """The fields that every prompt of a rescue has."""
    return {
        "question": as_data(case.question or "(not given)", LONGEST_QUESTION),
        "hint": as_data(case.hint, LONGEST_QUESTION),
        "schema": schema_of(case),
        "trigger": case.trigger,
    }


def numbered(entries: Iterable[tuple[int, str]]) -> str:
    """The entries `[i] …`, each its own block of data."""
    return "\n".join(f"[{i}]\n{as_data(text, 2 * LONGEST_SQL)}" for i, text in entries)


def dialect_of(catalog: Catalog) -> str:
    """The SQL dialect as a model knows it."""
    return catalog.dialect or "standard SQL"
