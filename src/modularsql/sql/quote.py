"""What somebody wrote for a node of the tree, in one line: its own words, not ours.

The parser keeps the places of names and literals only. So the stretch between the first and the
last of a node's is widened, word by word, until it reads as that node; where none does, the node is
printed anew.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.sql.parse import Unparsed, parse_text, tokenize

_WIDEST = 5  # words before or behind: NOT EXISTS ( SELECT 1, IS NOT NULL
_MOST = 16  # stretches tried
_BETWEEN = frozenset(
    "AND OR COMMA DOT EQ NEQ GT GTE LT LTE PLUS SLASH DPIPE DCOLON IS IN LIKE BETWEEN".split()
)
_NOT_FIRST = frozenset(TokenType[kind] for kind in (*_BETWEEN, "ON", "WHERE", "R_PAREN"))
_NOT_LAST = frozenset(TokenType[kind] for kind in (*_BETWEEN, "L_PAREN", "NOT", "FROM", "SELECT"))


def quoted(node: exp.Expr) -> str:
    """The text of a node as written, without comments, white space as one blank."""
    root = node.root()
    text, dialect = root.meta.get("text"), root.meta.get("dialect")
    if text is None or dialect is None:
        return " ".join(node.sql(comments=False).split())
    tokens = _tokens(text, dialect)
    for some in islice(_stretches(tokens, node), _MOST):
        words = _line(text, some)
        if _reads_as(words, node, dialect):
            return words
    return " ".join(node.sql(dialect=dialect, comments=False).split())


@lru_cache(maxsize=8)
def _tokens(text: str, dialect: str) -> tuple[Token, ...]:
    tokens = tokenize(text, dialect)
    return () if isinstance(tokens, Unparsed) else tokens


def _stretches(tokens: Sequence[Token], node: exp.Expr) -> Iterator[Sequence[Token]]:
    """Stretches around all places of a node, the shortest first; none with half a bracket."""
    metas = [part.meta for part in node.walk() if "start" in part.meta]
    if not metas:
        return
    start, end = min(meta["start"] for meta in metas), max(meta["end"] for meta in metas)
    inside = [i for i, token in enumerate(tokens) if start <= token.start <= end]
    if not inside:
        return
    first, last = inside[0], inside[-1]
    for wider in range(2 * _WIDEST + 1):
        for before in range(max(0, wider - _WIDEST), min(wider, _WIDEST) + 1):
            low, high = first - before, last + wider - before + 1
            some = tokens[low:high] if low >= 0 and high <= len(tokens) else ()
            if some and _is_whole(some, isinstance(node, exp.Join)):
                yield some


def _is_whole(some: Sequence[Token], is_join: bool) -> bool:
    first, last = some[0].token_type, some[-1].token_type
    if last in _NOT_LAST or (first in _NOT_FIRST and not (is_join and first == TokenType.COMMA)):
        return False
    depth = 0
    for token in some:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth < 0:
            return False
    return depth == 0


def _line(text: str, some: Sequence[Token]) -> str:
    words = [text[some[0].start : some[0].end + 1]]
    for one, other in pairwise(some):
        words.append(" " if one.end + 1 < other.start else "")
        words.append(text[other.start : other.end + 1])
    return "".join(words)


def _reads_as(words: str, node: exp.Expr, dialect: str) -> bool:
    """Whether the words, put where the node stands, are read as that node."""
    if isinstance(node, exp.Query) and not isinstance(node, exp.Subquery):
        return parse_text(words, dialect) == node
    key = node.arg_key or ""
    if key == "this" and isinstance(node.parent, exp.From | exp.Join):
        before, key = "SELECT 1 FROM", "from_"
    else:
        is_clause = isinstance(node.parent, exp.Select) and key != "expressions"
        before, key = ("SELECT 1 FROM t AS t", key) if is_clause else ("SELECT", "expressions")
    tree = parse_text(f"{before} {words}", dialect)
    found = tree.args.get(key) if isinstance(tree, exp.Select) else None
    if isinstance(found, list):
        return len(found) == 1 and found[0] == node
    return found == node or (isinstance(found, exp.From) and found.this == node)
