"""Conditions as facts: which columns they make equal, constant or not NULL."""

from sqlglot import exp

from modularsql.multiplicity.algebra import TRUE, Predicate
from modularsql.multiplicity.columns import conjuncts, is_volatile, literal_fits, own_parts
from modularsql.multiplicity.context import Context
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.names import resolve, resolve_all

_REJECTS_NULL = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.Glob,
    exp.Between, exp.In,
)  # fmt: skip
_STRICT = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Paren, exp.Lower, exp.Upper,
    exp.Abs, exp.Round, exp.Length, exp.Substring, exp.Trim, exp.DPipe,
)  # fmt: skip


def predicate(condition: exp.Expr | None, block: Block, context: Context) -> Predicate:
    """The facts of a condition that must hold (ON, WHERE)."""
    result = TRUE
    for part in conjuncts(condition):
        result &= _part(part, block, context)
    return result


def _part(part: exp.Expr, block: Block, context: Context) -> Predicate:
    mentioned = resolve_all(part, block, context)
    # A subquery's outcome may depend on more than the columns it names.
    asks = any(isinstance(inner, exp.Query) for inner in own_parts(part))
    facts = Predicate(
        mentioned=mentioned,
        not_null=_rejected(part, block, context),
        opaque=asks or is_volatile(part),
    )
    if isinstance(part, exp.EQ):
        return facts & _equality(part.this, part.expression, block, context)
    if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null):
        return facts & Predicate(constant=_column(part.this, block, context))
    if isinstance(part, exp.In) and len(part.expressions) == 1:
        return facts & _equality(part.this, part.expressions[0], block, context)
    return facts


def _equality(left: exp.Expr, right: exp.Expr, block: Block, context: Context) -> Predicate:
    one, other = _column(left, block, context), _column(right, block, context)
    if one and other:
        if one == other or not context.comparable(one, other):
            return TRUE
        return Predicate(equal=((one, other),), constant=_outer(one | other, block))
    for column, value in ((one, right), (other, left)):
        if column and _is_constant(column, value, context):
            return Predicate(constant=column)
    return TRUE


def _is_constant(column: int, value: exp.Expr, context: Context) -> bool:
    while isinstance(value, exp.Paren):
        value = value.this
    bare = value.this if isinstance(value, exp.Neg) else value
    if isinstance(bare, exp.Literal | exp.Boolean):
        return literal_fits(context.kinds.get(column), value, context.dialect)
    # A bound value, and a double-quoted string, come without a type of their own in SQLite.
    plain = isinstance(bare, exp.Placeholder | exp.Parameter)
    plain = plain or (isinstance(bare, exp.Column) and bool(bare.this.args.get("quoted")))
    return plain and context.dialect == "sqlite" and column in context.kinds


def _column(expression: exp.Expr, block: Block, context: Context) -> int:
    """The attribute of an expression that is a bare column, 0 otherwise."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return resolve(expression, block, context) if isinstance(expression, exp.Column) else 0


def _outer(attributes: int, block: Block) -> int:
    """Those of the attributes that belong to a block around: constant for each run of this one."""
    result = 0
    for source, _, attribute in block.columns.values():
        if attribute & attributes and not any(source is own for own in block.sources):
            result |= attribute
    return result


def _rejected(part: exp.Expr, block: Block, context: Context) -> int:
    """Columns that are not NULL in rows for which the part is true."""
    if isinstance(part, exp.Paren):
        return _rejected(part.this, block, context)
    if isinstance(part, exp.Or):
        left = _rejected_by_all(part.this, block, context)
        return left & _rejected_by_all(part.expression, block, context)
    if isinstance(part, exp.Not):
        inner = part.this.this if isinstance(part.this, exp.Paren) else part.this
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            return _strict(inner.this, block, context)
        if isinstance(inner, exp.Like | exp.ILike | exp.Between | exp.EQ):
            return _strict(inner.this, block, context)
        return _strict(inner.this, block, context) if isinstance(inner, exp.In) else 0
    if isinstance(part, exp.In | exp.Between):
        return _strict(part.this, block, context)
    if isinstance(part, _REJECTS_NULL):
        right = part.args.get("expression")
        both = _strict(part.this, block, context)
        return both | (_strict(right, block, context) if right is not None else 0)
    return 0


def _rejected_by_all(condition: exp.Expr, block: Block, context: Context) -> int:
    result = 0
    for part in conjuncts(condition):
        result |= _rejected(part, block, context)
    return result


def _strict(expression: exp.Expr, block: Block, context: Context) -> int:
    """Columns whose NULL makes the whole expression NULL."""
    if isinstance(expression, exp.Column):
        return resolve(expression, block, context)
    if isinstance(expression, _STRICT):
        result = 0
        for part in expression.iter_expressions():
            result |= _strict(part, block, context)
        return result
    return 0
