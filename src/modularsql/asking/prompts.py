"""Prompts are files; what is put into them is data, quoted as data and cut to a length.

A prompt is a Markdown file beside the code that uses it: the system message, a line `---`, the
user message. `$name` marks a place to fill; filled-in text is never looked at again, so it can
fill nothing itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

from modularsql.ports import Message

_RULE = "\n---\n"
_CUT = " […]"
_MARK = re.compile(r"<(?=\s*/?\s*data)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A system and a user message with places to fill."""

    system: str
    user: str

    def messages(self, **fields: str) -> tuple[Message, ...]:
        """The messages with every place filled; a place without a field is a mistake of ours.

        A paragraph of the user's whose fields are all empty is left out, heading and all.
        """
        parts = [Template(part) for part in re.split(r"\n{2,}", self.user)]
        told = [part for part in parts if _is_told(part.get_identifiers(), fields)]
        return (
            Message(role="system", text=Template(self.system).substitute(fields)),
            Message(role="user", text="\n\n".join(part.substitute(fields) for part in told)),
        )


def _is_told(names: list[str], fields: Mapping[str, str]) -> bool:
    return not names or any(fields[name] for name in names)


@cache
def load_prompt(package: str, name: str) -> Prompt:
    """The prompt `prompts/NAME.md` of a package."""
    text = files(package).joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    system, _, user = text.partition(_RULE)
    return Prompt(system=system.strip(), user=user.strip())


def clipped(text: str, limit: int) -> str:
    """At most `limit` characters, with a mark where something was cut off."""
    return text if len(text) <= limit else text[: max(0, limit - len(_CUT))] + _CUT


def as_data(text: str, limit: int) -> str:
    """Text of unknown origin (names, values, SQL, questions) as one quoted block; none of nothing.

    The block ends where we end it: what could be a mark is broken up inside the text, and control
    characters are shown as spaces.
    """
    if not text:
        return ""
    printable = "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
    return f"<data>\n{_MARK.sub('< ', clipped(printable, limit))}\n</data>"
