"""Files from elsewhere: their text, the JSON values in it with their places, names in messages."""

import json
import re
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

from modularsql.errors import InputError

_JSON_SPACE = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()


class JsonValue(NamedTuple):
    """A value of a JSON text and the place of its source in that text."""

    value: Any
    start: int
    end: int


def read_utf8(path: Path) -> str:
    """The text of a file with its byte-order mark and line ends as they are, or `InputError`."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 (byte {error.start})", "convert it, for example with iconv"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {path}: {reason}", "check the path") from None


def json_values(text: str, path: Path) -> list[JsonValue]:
    """The JSON values that stand one after the other in the text of `path`, or `InputError`."""
    values = []
    at = skip_space(text, 0)
    try:
        while at < len(text):
            value, end = DECODER.raw_decode(text, at)
            values.append(JsonValue(value, at, end))
            at = skip_space(text, end)
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path} is no valid JSON: {reason}", "mend it or get it again") from None
    return values


def skip_space(text: str, at: int) -> int:
    """The next place from `at` in a JSON text that is neither space nor a byte-order mark."""
    match = _JSON_SPACE.match(text, at + text.startswith("\ufeff", at))
    return match.end() if match else at


def shown(name: str) -> str:
    """A name from a file as it may stand in a message: on one line, and short."""
    return name if name.isprintable() and len(name) <= 40 else repr(name[:40])


def holds(test: Callable[[], bool]) -> bool:
    """The answer of a question to the file system, such as `path.is_dir`; False if it fails."""
    try:
        return test()
    except OSError:  # a name too long for the file system, or a folder we may not enter
        return False


def is_plain(name: str) -> bool:
    """Whether a name from a file may be joined to a folder: nothing that could lead out of it."""
    return name not in ("", ".", "..") and "\0" not in name and PureWindowsPath(name).name == name
