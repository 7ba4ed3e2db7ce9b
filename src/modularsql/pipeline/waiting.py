"""Which calls of a model had to be over before another one was made: the call graph of a question.

A line of work knows the calls that it waited for; where it forks, the branches know the same, and
where they meet again, what follows waited for all of them.
"""

from collections.abc import Callable, Iterable, Sequence
from contextvars import Context, ContextVar

_WAITED: ContextVar[tuple[int, ...]] = ContextVar("waited", default=())


def waited() -> tuple[int, ...]:
    """The numbers of the calls that this line of work waited for last."""
    return _WAITED.get()


def follow(*calls: int) -> None:
    """What comes next in this line of work waited for these."""
    _WAITED.set(calls)


def meet(branches: Iterable[Context]) -> None:
    """What comes next waited for the last calls of all branches, which began as copies of this."""
    follow(*sorted({call for branch in branches for call in branch.get(_WAITED, ())}))


def longest(after: Sequence[Iterable[int]], takes: Callable[[int], float]) -> float:
    """The longest way through a call graph: what all calls take where none waits without need.

    `after` are for each call the numbers of those it waited for, which are smaller than its own.
    """
    done: list[float] = []
    for call, before in enumerate(after):
        done.append(takes(call) + max((done[one] for one in before), default=0.0))
    return max(done, default=0.0)
