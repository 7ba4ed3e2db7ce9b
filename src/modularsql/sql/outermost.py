"""The outermost query block: what it is on the tree, where it stands, and its DISTINCT.

An edit is made on the text at the place of one token, so everything else (comments, quotes,
spacing) stays byte for byte; the edited text is parsed again and must give the intended tree.
"""

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.sql.dialects import dialect_of
from modularsql.sql.parse import Unparsed, follow, levels, parse_text, path
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
    """Whether LIMIT, OFFSET, FETCH or a sample cuts the rows of the block."""
    return any(block.args.get(name) for name in ("limit", "offset", "sample"))


def has_distinct(block: exp.Expr) -> bool:
    """Whether the block is a SELECT DISTINCT (DISTINCT ON not included)."""
    distinct = block.args.get("distinct") if isinstance(block, exp.Select) else None
    return isinstance(distinct, exp.Distinct) and not distinct.args.get("on")


def orders_by_unselected(block: exp.Select, dialect: str) -> bool:
    """Whether ORDER BY uses something that is not in the SELECT list.

    Then SELECT DISTINCT is an error in most dialects and an arbitrary order in the rest.
    """
    order = block.args.get("order")
    if order is None:
        return False
    hidden = dialect_of(dialect).row_ids
    return any(not _is_selected(key.this, block, hidden) for key in order.expressions)


def _is_selected(key: exp.Expr, block: exp.Select, hidden: tuple[str, ...]) -> bool:
    while isinstance(key, exp.Collate | exp.Paren):
        key = key.this
    if isinstance(key, exp.Literal | exp.Var):
        return True  # a position in the SELECT list, a constant, or DuckDB's ORDER BY ALL
    return any(_is_item(key, item, hidden) for item in block.expressions)


def _is_item(key: exp.Expr, item: exp.Expr, hidden: tuple[str, ...]) -> bool:
    column = item.unalias()
    if column == key or _covers(item, key, hidden):
        return True
    if not isinstance(key, exp.Column):
        return False
    if not key.table:
        return _same_name(key, item)
    return isinstance(column, exp.Column) and not column.table and _same_name(key, column)


def _same_name(key: exp.Column, item: exp.Expr) -> bool:
    return bool(key.name.casefold() == item.alias_or_name.casefold())


def _covers(item: exp.Expr, key: exp.Expr, hidden: tuple[str, ...]) -> bool:
    """Whether `*` or `t.*` brings the ordered column along, as it is."""
    star = item.this if isinstance(item, exp.Column) else item
    if not isinstance(key, exp.Column) or not isinstance(star, exp.Star):
        return False
    if any(star.args.values()) or key.name.casefold() in hidden:
        return False  # `* EXCLUDE (…)` and the like; what `*` does not show
    table = item.table if isinstance(item, exp.Column) else ""
    return star is item or bool(key.table.casefold() == table.casefold())


def distinct_place(statement: Statement) -> int | None:
    """Place in the text of the outermost SELECT's DISTINCT, None where there is none."""
    found = _selecting(statement)
    if found is None or found[1].token_type != TokenType.DISTINCT:
        return None
    return found[1].start


def select_place(statement: Statement) -> int:
    """Place in the text of the outermost SELECT, else of the statement's first word."""
    found = _selecting(statement)
    if found is not None:
        return found[0].start
    return statement.tokens[0].start if statement.tokens else 0


def add_distinct(statement: Statement, dialect: str) -> Edited:
    """The statement with its outermost rows made distinct.

    `SELECT` becomes `SELECT DISTINCT`; a set operation on top loses its ALL, since DISTINCT in
    one branch would not reach the rows of the other.
    """
    block = outermost(statement.tree)
    if block is None:
        return Declined(reason=_why_none(statement))
    if is_cut(block):
        return _CUT
    if isinstance(block, exp.SetOperation):
        return _drop_all(statement, block, dialect)
    if block.args.get("distinct"):
        return Declined(reason="it already has DISTINCT")
    if orders_by_unselected(block, dialect):
        return Declined(reason="it is ordered by a column that it does not select")
    found = _selecting(statement)
    if found is None:
        return Declined(reason="its outermost SELECT was not found in the text")
    wanted = block.copy()
    wanted.set("distinct", exp.Distinct())
    return _checked(_with_distinct(statement.text, *found), block, wanted, dialect)


def remove_distinct(statement: Statement, dialect: str) -> Edited:
    """The statement without the DISTINCT of its outermost SELECT."""
    block = outermost(statement.tree)
    at = distinct_place(statement)
    if block is None or not has_distinct(block) or at is None:
        return Declined(reason="its outermost SELECT has no plain DISTINCT")
    wanted = block.copy()
    wanted.set("distinct", None)
    return _checked(_without(statement.text, at, len("DISTINCT")), block, wanted, dialect)


_CUT = Declined(reason="LIMIT cuts the rows before DISTINCT could be applied to them all")


def _why_none(statement: Statement) -> str:
    if isinstance(statement.tree, Unparsed):
        return statement.tree.reason
    if is_cut(statement.tree):
        return _CUT.reason
    return "its outermost part is not a plain SELECT"


def _with_distinct(text: str, select: Token, after: Token) -> str:
    end = select.end + 1
    if after.token_type == TokenType.ALL:  # SELECT ALL says what DISTINCT now denies
        return text[: after.start] + "DISTINCT" + text[after.end + 1 :]
    return text[:end] + " DISTINCT" + text[end:]


def _drop_all(statement: Statement, block: exp.SetOperation, dialect: str) -> Edited:
    if block.args.get("distinct"):
        return Declined(reason="its outermost set operation already returns distinct rows")
    if isinstance(block, exp.Except):
        return Declined(reason="EXCEPT without ALL would take away more rows")
    wanted = block.copy()
    wanted.set("distinct", True)
    # In a chain the last one on this level is the outermost: set operations associate left.
    for token in reversed(_level(statement)):
        if token.token_type == TokenType.ALL:
            text = _without(statement.text, token.start, len("ALL"))
            edited = _checked(text, block, wanted, dialect)
            if isinstance(edited, str):
                return edited
    return Declined(reason="its outermost ALL was not found in the text")


def _without(text: str, start: int, length: int) -> str:
    """`text` without a word and the space after it; a comment or line break after it stays."""
    end = start + length
    if text[end : end + 1] == " ":
        end += 1
    return text[:start] + text[end:]


def _checked(text: str, block: exp.Expr, wanted: exp.Expr, dialect: str) -> Edited:
    if follow(parse_text(text, dialect), path(block)) != wanted:
        return Declined(reason="the text cannot be edited without changing more than that")
    return text


def _selecting(statement: Statement) -> tuple[Token, Token] | None:
    """The SELECT of the outermost block, the first on its own level, and the token after it."""
    if not isinstance(outermost(statement.tree), exp.Select):
        return None
    level = _level(statement)
    at = next((i for i, t in enumerate(level) if t.token_type == TokenType.SELECT), None)
    return None if at is None or at + 1 >= len(level) else (level[at], level[at + 1])


def _level(statement: Statement) -> list[Token]:
    """The tokens that stand on the level of the outermost block, nothing deeper."""
    wanted, tree = 0, statement.tree
    while isinstance(tree, exp.Subquery):
        wanted, tree = wanted + 1, tree.this
    return [token for token, depth in levels(statement.tokens) if depth == wanted]
