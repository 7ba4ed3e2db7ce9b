"""Standard output for reading: as wide as the terminal, or without a width in a pipe or file.

Nothing is padded to the right, SQL is never broken into lines (it stays fit to be copied), and
no character of the data reaches the terminal that could do more than be shown.
"""

import shutil
import sys
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from modularsql.cli.common import printable

_NARROWEST = 20


class Screen(Console):
    """A console that prints line by line. `room` is the width, None where there is no bound."""

    def __init__(self) -> None:
        super().__init__(file=sys.stdout, highlight=False, markup=False, emoji=False)
        columns = shutil.get_terminal_size((0, 0)).columns
        self.room: int | None = max(columns, _NARROWEST) if columns else None

    def on_broken_pipe(self) -> None:
        """Leave it to `common.output`; rich would end the process."""
        raise BrokenPipeError

    def say(self, text: Text | str = "", style: str = "") -> None:
        """One line as it is; what does not fit is left to the terminal."""
        self.print(text, style=style or None, soft_wrap=True)

    def words(self, text: str, by: int = 0, style: str = "") -> None:
        """Sentences, indented and wrapped at the width."""
        for part in text.splitlines():
            line = printable(part)
            pieces = [line]
            if self.room:
                width = max(self.room - by, _NARROWEST)
                pieces = wrap(line, width, break_long_words=False, break_on_hyphens=False)
            for piece in pieces:
                self.say(" " * by + piece, style)

    def sql(self, text: str, by: int, style: str = "bold") -> None:
        """SQL, indented, its own line breaks and tabs kept."""
        for part in text.strip().replace("\r\n", "\n").split("\n"):
            shown = "\t".join(map(printable, part.split("\t")))
            self.say(" " * by + shown.rstrip(), style)
