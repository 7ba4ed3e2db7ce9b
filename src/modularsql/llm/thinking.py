"""A model that may think aloud before it replies: its thoughts get room, and are no reply.

A thought holds drafts, queries among them, that were given up; read as the reply, one of those
would be run. Servers with a parser for it take thoughts out; from others they come in front.
"""

import re
from dataclasses import replace

from modularsql.ports import ChatReply, ChatRequest, Model

# Chat templates that open the thought themselves leave only its end in the reply.
_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_ONLY_ITS_END = re.compile(r"\A(?:(?!<think>).)*?</think>", re.DOTALL | re.IGNORECASE)


class Thinking:
    """A model around another; `tokens` are added to the bound of each reply, for its thoughts."""

    def __init__(self, model: Model, tokens: int) -> None:
        self._model = model
        self._tokens = tokens
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; a thought that did not come to an end leaves an empty reply."""
        reply = self._model.chat(replace(request, max_tokens=request.max_tokens + self._tokens))
        return replace(reply, texts=tuple(map(without_thought, reply.texts)))


def without_thought(text: str) -> str:
    """The reply itself."""
    thought = _THOUGHT.match(text) or _ONLY_ITS_END.match(text)
    return text if thought is None else text[thought.end() :].lstrip()
