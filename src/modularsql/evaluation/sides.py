"""The first rows of two results for a reader, with those marked that the other does not have."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from modularsql.evaluation.log import Side
from modularsql.json_values import cell
from modularsql.rows import Row, Rows, comparable

MOST_ROWS = 20
MOST_COLUMNS = 40
MOST_MARKED = 200_000
LONGEST_CELL = 200


def sides(
    gold: Rows | None, pred: Rows | None, *, by_place: bool = False
) -> tuple[Side | None, Side | None]:
    """What a reader is shown of both results (None: there is none).

    Differing rows come first where they would not stand among the first rows; `by_place`: rows
    that stand elsewhere on the other side differ. Rows beyond `MOST_MARKED` are not compared.
    """
    if gold is None or pred is None:
        return _first(gold), _first(pred)
    if max(len(gold.rows), len(pred.rows)) > MOST_MARKED:
        return _first(gold), _first(pred)
    left, right = comparable(gold.rows), comparable(pred.rows)
    if by_place:
        moved = {place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b}
        return _side(gold, moved), _side(pred, moved)
    return _side(gold, _surplus(left, right)), _side(pred, _surplus(right, left))


def _surplus(rows: Sequence[Row], others: Sequence[Row]) -> set[int]:
    """The places of the rows that the other result does not have, or not so often."""
    left = Counter(others)
    places = set()
    for place, row in enumerate(rows):
        if left[row] > 0:
            left[row] -= 1
        else:
            places.add(place)
    return places


def _first(rows: Rows | None) -> Side | None:
    return None if rows is None else _side(rows, set())


def _side(rows: Rows, marked: set[int]) -> Side:
    first = range(min(MOST_ROWS, len(rows.rows)))
    hidden = sorted(place for place in marked if place >= MOST_ROWS)
    if hidden and not marked.intersection(first):
        first = range(min(MOST_ROWS // 2, len(rows.rows)))
    places = [*first, *hidden[: MOST_ROWS - len(first)]]
    return Side(
        columns=tuple(str(name)[:LONGEST_CELL] for name in rows.columns[:MOST_COLUMNS]),
        rows=tuple(tuple(map(_cell, rows.rows[place][:MOST_COLUMNS])) for place in places),
        differs=tuple(place in marked for place in places),
        places=tuple(places),
    )


def _cell(value: Any) -> Any:
    """One value as JSON, cut where it is long."""
    if isinstance(value, str | bytes) and len(value) > LONGEST_CELL:
        cut = cell(value[:LONGEST_CELL])
        return cut + "…" if isinstance(cut, str) else cut
    return cell(value)
