"""Several value indexes as one: what any of them finds, each value by its best score."""

from collections.abc import Iterable, Sequence

from modularsql.ports import Match, ValueIndex


class Merged:
    """Indexes of the same values, by letters and by meaning."""

    def __init__(self, *indexes: ValueIndex) -> None:
        self._indexes = indexes

    def search(self, keywords: Sequence[str], per_column: int) -> list[Match]:
        """See `ports.ValueIndex`."""
        found = (m for index in self._indexes for m in index.search(keywords, per_column))
        return best_of_columns(found, per_column)


def best_of_columns(matches: Iterable[Match], per_column: int) -> list[Match]:
    """Each value once, by its best match, and of each column so many, the best first."""
    best: dict[tuple[str, str, str], Match] = {}
    for match in matches:
        place = (match.table, match.column, match.value)
        if place not in best or best[place].score < match.score:
            best[place] = match
    counts: dict[tuple[str, str], int] = {}
    kept: list[Match] = []
    for match in sorted(best.values(), key=lambda m: (-m.score, m.table, m.column, m.value)):
        column = (match.table, match.column)
        counts[column] = counts.get(column, 0) + 1
        if counts[column] <= per_column:
            kept.append(match)
    return kept
