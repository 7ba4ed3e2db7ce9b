"""Rows that are equal on gold's ORDER BY keys: any order among them is right, and where LIMIT cuts
through them, any choice.

Keys that gold does not select, and rows that its LIMIT leaves out, do not stand in its result.
`keyed_query` is gold with the hidden keys as further columns and without LIMIT and OFFSET; on its
result both questions are answered. Keys tie where Python calls them equal; a collation may call
more of them equal (a = A), so where one may be in play a no is taken back if it rests on the
difference of such keys.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import combining, normalize

from modularsql.evaluation.shape import Shape, read_block
from modularsql.rows import Row, Rows, comparable
from modularsql.sql.order_keys import with_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that tie: all of them as they are selected, and the places they have in the result."""

    rows: "Counter[Row]"
    start: int
    end: int

    @property
    def is_split(self) -> bool:
        """Whether the cut leaves some of the rows out."""
        return self.end - self.start < self.rows.total()


def keyed_query(sql: str, dialect: str, columns: Sequence[str]) -> str | None:
    """`sql` (whose result has `columns`) with its hidden keys and without its LIMIT.

    None where there is no ORDER BY, or where keys cannot stand beside the rows (`with_keys`).
    """
    block = read_block(sql, dialect)
    if block is None or block.args.get("order") is None:
        return None
    whole = with_keys(block, columns)
    if whole is None:
        return None
    whole.set("limit", None)
    whole.set("offset", None)
    return str(whole.sql(dialect=dialect))


Alike = Callable[[Any], Any]
"""What of a key decides whether it ties with another."""


def itself(key: Any) -> Any:
    """Keys tie where they are equal."""
    return key


def loosely(key: Any) -> Any:
    """Keys tie where a usual collation may have it: without case, accents, and blanks behind."""
    if not isinstance(key, str):
        return key
    letters = normalize("NFKD", key.casefold())
    return "".join(letter for letter in letters if not combining(letter)).rstrip(" ")


def groups(
    shape: Shape, keyed: Rows, width: int, shown: int, alike: Alike = itself
) -> list[Group] | None:
    """The ties among the rows that gold shows (`shown` of them, `width` columns), in order.

    None where `keyed` is cut itself, or is not what gold shows.
    """
    if keyed.truncated or shape.offset is None or len(keyed.rows) < shape.offset + shown:
        return None
    places = _key_places(shape, width)
    rows = comparable(keyed.rows)
    found = []
    for start, end in _runs(rows, places, alike):
        first, last = max(start - shape.offset, 0), min(end - shape.offset, shown)
        if first < last:
            bag = Counter(row[:width] for row in rows[start:end])
            found.append(Group(rows=bag, start=first, end=last))
    return found


def key_columns(rows: Rows, shape: Shape, keyed: Rows | None) -> list[Sequence[Any] | None]:
    """The values of each ORDER BY key, in order: of all rows where `keyed` is given, else of those
    shown; None for a key that does not stand in them.
    """
    if keyed is None:
        columns = _columns(rows)
        return [None if place is None else columns[place] for place in shape.keys]
    columns = _columns(keyed)
    return [columns[place] for place in _key_places(shape, len(rows.columns))]


def _columns(rows: Rows) -> list[tuple[Any, ...]]:
    return list(zip(*rows.rows, strict=True)) or [()] * len(rows.columns)


def _key_places(shape: Shape, width: int) -> list[int]:
    """Where the keys stand in a keyed result whose first `width` columns are the query's own."""
    hidden = iter(range(width, width + len(shape.keys)))
    return [next(hidden) if place is None else place for place in shape.keys]


def in_order(gold: Rows, pred: Rows, shape: Shape | None, keyed: Rows | None) -> bool | None:
    """Whether `pred`, the same bag as `gold`, stands in an order that gold's ORDER BY allows."""
    if shape is None:
        return None
    if not shape.ordered:
        return True
    rows = comparable(gold.rows), comparable(pred.rows)
    found = _in_order(*rows, shape, keyed, itself)
    if found is False and _may_collate(shape, gold, keyed):
        return None if _in_order(*rows, shape, keyed, loosely) is not False else False
    return found


def _may_collate(shape: Shape, *results: Rows | None) -> bool:
    """Whether keys that are not equal may tie."""
    return shape.collated or any(rows is not None and rows.plain is False for rows in results)


def _in_order(
    gold: Sequence[Row], pred: Sequence[Row], shape: Shape, keyed: Rows | None, alike: Alike
) -> bool | None:
    visible = shape.visible_keys
    runs = _runs(gold, visible, alike)
    if any(Counter(gold[start:end]) != Counter(pred[start:end]) for start, end in runs):
        return False
    if len(visible) == len(shape.keys):
        return True
    ties = None if keyed is None else groups(shape, keyed, len(gold[0]), len(gold), alike)
    if ties is None or not all(Counter(gold[t.start : t.end]) <= t.rows for t in ties):
        return None
    return all(Counter(pred[tie.start : tie.end]) <= tie.rows for tie in ties)


def is_choice(gold: Rows, pred: Rows, shape: Shape | None, keyed: Rows | None) -> bool | None:
    """Whether `pred` holds rows that gold's LIMIT could have let through instead of `gold`."""
    if shape is None:
        return None
    if not (shape.ordered and shape.cut):
        return False
    rows = comparable(gold.rows), comparable(pred.rows)
    found = _is_choice(*rows, shape, keyed, itself)
    if found is False and _may_collate(shape, gold, keyed):
        return None if _is_choice(*rows, shape, keyed, loosely) is not False else False
    return found


def _is_choice(
    gold: Sequence[Row], pred: Sequence[Row], shape: Shape, keyed: Rows | None, alike: Alike
) -> bool | None:
    ties = None if keyed is None else groups(shape, keyed, len(gold[0]), len(gold), alike)
    if ties is None or not _chosen(ties, Counter(gold)):
        return None
    return _chosen(ties, Counter(pred))


def is_cut_at_a_tie(gold: Sequence[Row], shape: Shape, keyed: Rows) -> bool | None:
    """Whether gold's LIMIT or OFFSET cuts through rows that tie and are not all the same."""
    ties = groups(shape, keyed, len(gold[0]), len(gold)) if gold else []
    if ties is None:
        return None
    return any(tie.is_split and len(tie.rows) > 1 for tie in ties)


def _chosen(ties: Sequence[Group], bag: "Counter[Row]") -> bool:
    """Whether the bag takes all rows of whole ties, and as many of split ones as there is room."""
    rest = bag.copy()
    rest.subtract(sum((tie.rows for tie in ties if not tie.is_split), Counter()))
    split = [tie for tie in ties if tie.is_split]
    if any(times < 0 for times in rest.values()):
        return False
    if len(split) < 2:
        return all(rest <= tie.rows for tie in split) and (bool(split) or not rest.total())
    first, last = split  # one where OFFSET cuts, one where LIMIT does
    if not rest <= first.rows + last.rows:
        return False
    least = (rest - last.rows).total()
    most = (rest & first.rows).total()
    return least <= first.end - first.start <= most


def _runs(rows: Sequence[Row], places: Sequence[int], alike: Alike) -> Iterator[tuple[int, int]]:
    """Stretches of neighbours that are alike in these places, as (start, end)."""
    keys = rows if alike is itself else [tuple(map(alike, row)) for row in rows]
    start = 0
    for at in range(1, len(keys) + 1):
        if at == len(keys) or any(keys[at][p] != keys[start][p] for p in places):
            yield start, at
            start = at
