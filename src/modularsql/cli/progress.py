"""Progress on standard error, only where that is a terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

Show = Callable[[int, int, str], None]
"""Called with what is done, of how much, and a few words on how it goes."""


@contextmanager
def progress(what: str) -> Iterator[Show | None]:
    """A bar with the time left; None where nobody would see it."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    from rich.text import Text

    class Bar(Progress):
        """The words stand below the bar: the scores of ten systems would take its place."""

        def get_renderables(self) -> Iterable[RenderableType]:
            yield self.make_tasks_table(self.tasks)
            for task in self.tasks:
                if task.fields["words"]:
                    yield Text(task.fields["words"])

    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, words="")
        yield lambda done, total, words: bar.update(task, completed=done, total=total, words=words)
