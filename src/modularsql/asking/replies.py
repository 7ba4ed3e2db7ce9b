"""Replies are foreign text: read for what was asked, anything else is a `ModelReplyError`."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from modularsql.asking.prompts import clipped
from modularsql.errors import ModelReplyError
from modularsql.ports import ChatRequest, Message, Model

Value = TypeVar("Value")

_INTEGER = re.compile(r"(?<![\w.,-])\d+(?![\w]|[.,]\d)")
_LONGEST = 4_000
_DECODER = json.JSONDecoder()


def ask(model: Model, request: ChatRequest, read: Callable[[str], Value]) -> Value:
    """One reply, read by `read`; a reply that it rejects is asked for once more, with the reason.

    Raises what `Model.chat` raises, and `ModelReplyError` when the second reply is no better.
    """
    text = model.chat(request).texts[0]
    try:
        return read(text)
    except ModelReplyError as error:
        again = replace(
            request,
            messages=(
                *request.messages,
                Message(role="assistant", text=clipped(text, _LONGEST) or "(nothing)"),
                Message(role="user", text=f"{error.message}. Reply again, in that form only."),
            ),
        )
    return read(model.chat(again).texts[0])


def json_object(text: str) -> dict[str, Any]:
    """The first JSON object in a reply, whatever prose or fence stands around it."""
    for match in re.finditer(r"\{", text):
        try:
            value, _ = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise ModelReplyError("the reply holds no JSON object")


def first_integer(text: str, below: int) -> int | None:
    """The first whole number in `[0, below)` in a reply (paper, appendix C); None without one.

    Numbers with a sign, a fraction or letters beside them are none: `-1` does not mean 1.
    """
    numbers = (int(match.group()) for match in _INTEGER.finditer(text[:_LONGEST]))
    return next((number for number in numbers if number < below), None)
