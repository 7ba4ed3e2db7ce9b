"""Of each group the value with the largest total, where any value stood beside the group's."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from modularsql.multiplicity.aggregates import AVERAGES, COUNTS, SUMS, counts_rows, within
from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.measure import groups_of
from modularsql.multiplicity.model import Block, Output
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import (
    Cut,
    Edit,
    Promise,
    Rewritten,
    call,
    free_name,
    spliced,
    written,
)
from modularsql.sql.clauses import clauses
from modularsql.sql.named import table_alias
from modularsql.sql.outermost import Declined
from modularsql.sql.quote import quoted
from modularsql.sql.statement import Statement

_ELSEWHERE = ("having", "order", "limit", "offset", "distinct", "qualify", "windows")
_TOTALS = SUMS | COUNTS | AVERAGES


def top_of_group(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Group by the bare columns too, and keep of each group those with the largest aggregate.

    Promises the same groups. One row whatever its columns, or all of them, may be meant as well.
    """
    block, parts = issue.block, clauses(statement)
    group = parts.after.get(TokenType.GROUP_BY) if parts is not None else None
    total, bare = _total_and_bare(block)
    reason = _obstacle(block, total, bare)
    place = call(statement, total.expression) if total is not None else None
    if reason or parts is None or group is None or total is None or place is None:
        return Declined(reason=reason or "its clauses could not be taken apart")
    called = total.name or quoted(total.expression)
    names = [called if output is total else output.name for output in block.outputs]
    if len({name.casefold() for name in names}) < len(names) or not all(names):
        return Declined(reason="its columns cannot be told apart by name")
    rank = free_name(statement, "place", "place_in_group")
    by = ", ".join(term.sql(dialect=dialect) for term in groups_of(block))
    more = ", ".join(output.expression.sql(dialect=dialect) for output in bare)
    order = f"PARTITION BY {by} ORDER BY {quoted(total.expression)} DESC"
    named = statement.tokens[place[1]].end + 1
    listed = max(token.end + 1 for token in statement.tokens if token.start < parts.start)
    cuts: list[Cut] = [
        (named, named, "" if total.name else f" AS {written(called, dialect)}"),
        (listed, listed, f", RANK() OVER ({order}) AS {rank}"),
        (group.end, group.end, f", {more}"),
    ]
    text = spliced(statement.text, cuts)
    stop = parts.stop + len(text) - len(statement.text)
    shown = ", ".join(written(name, dialect) for name in names)
    start, alias = parts.select.start, table_alias(free_name(statement, "q", "grouped"), dialect)
    whole = f"SELECT {shown} FROM ({text[start:stop]}){alias} WHERE {rank} = 1"
    return Edit(
        text[:start] + whole + text[stop:],
        Promise.KEYS,
        doubt="any row of the group, or all of them, may be meant",
    )


def _total_and_bare(block: Block) -> tuple[Output | None, list[Output]]:
    """The output that is the aggregate, and those that the group does not settle."""
    settled = block.rows.closure(within(block))
    nodes = [aggregate.node for aggregate in block.aggregates]
    loose = [output for output in block.outputs if not output.attribute & settled]
    totals = [o for o in loose if any(o.expression is node for node in nodes)]
    bare = [output for output in loose if output not in totals]
    return (totals[0] if len(totals) == len(nodes) == 1 else None), bare


def _obstacle(block: Block, total: Output | None, bare: Sequence[Output]) -> str:
    """Why it cannot be said which row has the most; empty where it can."""
    if block.is_regrouped or any(block.select.args.get(clause) for clause in _ELSEWHERE):
        return "its groups are put in order or chosen already"
    if total is None or not bare or block.aggregates[0].kind not in _TOTALS:
        return "it does not show one total of each group beside bare columns"
    plain = [*groups_of(block), *(output.expression for output in bare)]
    if not all(isinstance(part, exp.Column) and id(part) in block.columns for part in plain):
        return "its groups and bare columns are not all plain columns"
    each = within(block) | union(output.attribute for output in bare)
    if counts_rows(block, block.aggregates[0]) and block.rows.is_key(each):
        return "each row would be counted alone, so that none has the most"
    return ""
