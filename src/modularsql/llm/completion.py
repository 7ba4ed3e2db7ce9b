"""A chat completion as servers write it: foreign bytes, read into a `ChatReply`."""

import json
from typing import Any

from modularsql.llm.retrying import HttpError
from modularsql.ports import ChatReply
from modularsql.records import Cost

_MOST_TOKENS = 2**31
_QUOTED = 120


def read_completion(raw: bytes) -> ChatReply:
    """The texts and the tokens of a completion; `HttpError` (worth another try) if it is none."""
    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        raise _nonsense(raw) from None
    return completion_of(value)


def completion_of(value: Any) -> ChatReply:
    """The same from JSON that was read before."""
    try:
        choices = value["choices"]
        texts = tuple(choice["message"].get("content") or "" for choice in choices)
        if not texts or not all(isinstance(text, str) for text in texts):
            raise TypeError
    except (KeyError, TypeError, AttributeError):
        raise _nonsense(value) from None
    return ChatReply(texts=texts, cost=_cost(value.get("usage")))


def _nonsense(reply: object) -> HttpError:
    what = f"a reply that is no chat completion: {_beginning(reply)}" if reply else "an empty reply"
    return HttpError(status=0, words=what, again=True)


def _beginning(reply: object) -> str:
    """Of a page of a proxy, say, or of the error that a server sends as if it were a reply."""
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else json.dumps(reply)
    return " ".join(text.split())[:_QUOTED]


def _cost(usage: Any) -> Cost:
    """The tokens a server says it counted; what it does not say is 0, and so is nonsense."""
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    return Cost(
        llm_calls=1,
        prompt_tokens=_tokens(usage.get("prompt_tokens")),
        completion_tokens=_tokens(usage.get("completion_tokens")),
        cached_tokens=_tokens(details.get("cached_tokens")) if isinstance(details, dict) else 0,
    )


def _tokens(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < _MOST_TOKENS else 0
