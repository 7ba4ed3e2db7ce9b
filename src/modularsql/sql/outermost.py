"""The outermost query block: what it is on the tree, where it stands, and its DISTINCT.

An edit is made on the text at the place of one token, so everything else (comments, quotes,
spacing) stays byte for byte; the edited text is parsed again and must give the intended tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.sql.parse import Unparsed, parse_text
from modularsql.sql.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """Why an edit is not possible here, as the end of a sentence."""

    reason: str


Edited = str | Declined


def outermost(tree: object) -> exp.Select | exp.SetOperation | None:
    """The query block whose rows come back, with parentheses around it taken away.

    None for VALUES, commands and what did not parse, and where parentheses carry an ORDER BY or
    LIMIT of their own, so that the block inside is not all there is.
    """
    while isinstance(tree, exp.Subquery):
        if any(value for name, value in tree.args.items() if name != "this"):
            return None
        tree = tree.this
    return tree if isinstance(tree, exp.Select | exp.SetOperation) else None


def is_cut(block: exp.Expr) -> bool:
    """Whether LIMIT, OFFSET or FETCH cuts the rows of the block."""
    return bool(block.args.get("limit") or block.args.get("offset"))


def has_distinct(block: exp.Expr) -> bool:
    """Whether the block is a SELECT DISTINCT (DISTINCT ON not included)."""
    distinct = block.args.get("distinct") if isinstance(block, exp.Select) else None
    return isinstance(distinct, exp.Distinct) and not distinct.args.get("on")


def orders_by_unselected(block: exp.Select) -> bool:
    """Whether ORDER BY uses something that is not in the SELECT list.

    Then SELECT DISTINCT is an error in most dialects and an arbitrary order in the rest.
    """
    order = block.args.get("order")
    if order is None:
        return False
    return any(not _is_selected(key.this, block) for key in order.expressions)


def _is_selected(key: exp.Expr, block: exp.Select) -> bool:
    if isinstance(key, exp.Collate):
        key = key.this
    if isinstance(key, exp.Literal):
        return True  # a position in the SELECT list, or a constant
    for item in block.expressions:
        if isinstance(key, exp.Column) and not key.table and _same_name(key, item):
            return True
        if _covers(item, key) or item.unalias() == key:
            return True
        if isinstance(key, exp.Column) and isinstance(item.unalias(), exp.Column):
            column = item.unalias()
            if _same_name(key, column) and "" in (key.table, column.table):
                return True
    return False


def _same_name(key: exp.Column, item: exp.Expr) -> bool:
    return bool(key.name.casefold() == item.alias_or_name.casefold())


def _covers(item: exp.Expr, key: exp.Expr) -> bool:
    """Whether `*` or `t.*` brings the ordered column along."""
    if not isinstance(key, exp.Column):
        return False
    if isinstance(item, exp.Star):
        return True
    if not isinstance(item, exp.Column) or not isinstance(item.this, exp.Star):
        return False
    return bool(key.table.casefold() == item.table.casefold())


def distinct_place(statement: Statement) -> int | None:
    """Place in the text of the outermost SELECT's DISTINCT, None where there is none."""
    select = _select_index(statement)
    if select is None:
        return None
    following = statement.tokens[select + 1 : select + 2]
    is_distinct = following and following[0].token_type == TokenType.DISTINCT
    return following[0].start if is_distinct else None


def select_place(statement: Statement) -> int:
    """Place in the text of the outermost SELECT, else of the statement's first word."""
    select = _select_index(statement)
    if select is not None:
        return statement.tokens[select].start
    return statement.tokens[0].start if statement.tokens else 0


def add_distinct(statement: Statement, dialect: str) -> Edited:
    """The statement with its outermost rows made distinct.

    `SELECT` becomes `SELECT DISTINCT`; a set operation on top loses its ALL, since DISTINCT in
    one branch would not reach the rows of the other.
    """
    block = outermost(statement.tree)
    if block is None:
        return Declined(reason="its outermost query block is not a plain SELECT")
    if is_cut(block):
        return Declined(reason="LIMIT cuts the rows before DISTINCT could be applied to them all")
    if isinstance(block, exp.SetOperation):
        return _drop_all(statement, block, dialect)
    if block.args.get("distinct"):
        return Declined(reason="it already has DISTINCT")
    if orders_by_unselected(block):
        return Declined(reason="it is ordered by a column that it does not select")
    at = _select_index(statement)
    if at is None:
        return Declined(reason="its outermost SELECT was not found in the text")
    end = statement.tokens[at].end + 1
    wanted = block.copy()
    wanted.set("distinct", exp.Distinct())
    return _checked(statement.text[:end] + " DISTINCT" + statement.text[end:], wanted, dialect)


def remove_distinct(statement: Statement, dialect: str) -> Edited:
    """The statement without the DISTINCT of its outermost SELECT."""
    block = outermost(statement.tree)
    at = distinct_place(statement)
    if block is None or not has_distinct(block) or at is None:
        return Declined(reason="its outermost SELECT has no plain DISTINCT")
    wanted = block.copy()
    wanted.set("distinct", None)
    return _checked(_without(statement.text, at, len("DISTINCT")), wanted, dialect)


def _drop_all(statement: Statement, block: exp.SetOperation, dialect: str) -> Edited:
    if not isinstance(block, exp.Union) or block.args.get("distinct"):
        return Declined(reason="its outermost set operation already returns distinct rows")
    wanted = block.copy()
    wanted.set("distinct", True)
    # In a chain the last one on this level is the outermost: set operations associate left.
    for token in reversed(_level(statement)):
        if token.text.upper() == "ALL":
            edited = _checked(_without(statement.text, token.start, len("ALL")), wanted, dialect)
            if isinstance(edited, str):
                return edited
    return Declined(reason="its outermost UNION ALL was not found in the text")


def _without(text: str, start: int, length: int) -> str:
    """`text` without a word and the space after it; a comment or line break after it stays."""
    end = start + length
    if text[end : end + 1] == " ":
        end += 1
    return text[:start] + text[end:]


def _checked(text: str, wanted: exp.Expr, dialect: str) -> Edited:
    tree = parse_text(text, dialect)
    if isinstance(tree, Unparsed) or outermost(tree) != wanted:
        return Declined(reason="the edited text would not mean what is intended")
    return text


def _select_index(statement: Statement) -> int | None:
    """Index of the SELECT token of the outermost block: the first on its own level."""
    if not isinstance(outermost(statement.tree), exp.Select):
        return None
    first = next((t for t in _level(statement) if t.token_type == TokenType.SELECT), None)
    return None if first is None else statement.tokens.index(first)


def _level(statement: Statement) -> Sequence[Token]:
    """The tokens that stand on the level of the outermost block, nothing deeper."""
    wanted, tree = 0, statement.tree
    while isinstance(tree, exp.Subquery):
        wanted, tree = wanted + 1, tree.this
    depth, level = 0, []
    for token in statement.tokens:
        if token.token_type == TokenType.R_PAREN:
            depth -= 1
        if depth == wanted:
            level.append(token)
        if token.token_type == TokenType.L_PAREN:
            depth += 1
    return level
