"""Words for messages: sources as a data analyst calls them."""

from collections.abc import Sequence

from modularsql.multiplicity.model import Source


def names(sources: Sequence[Source]) -> str:
    """`orders`, `orders and lines`, `orders, lines and tags`."""
    called = list(dict.fromkeys(source.name for source in sources))
    if len(called) < 2:
        return "".join(called)
    return ", ".join(called[:-1]) + " and " + called[-1]


def rows_of(sources: Sequence[Source]) -> str:
    """The entity of some sources: `Each row of orders`."""
    return (
        f"Each row of {names(sources)}" if len(sources) == 1 else f"Each pair of {names(sources)}"
    )
