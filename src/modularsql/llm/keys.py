"""What makes two requests the same: model, messages and every parameter that reaches the model."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from modularsql.ports import ChatReply, ChatRequest
from modularsql.records import Cost


def request_key(model: str, request: ChatRequest) -> str:
    """A hash of all that decides on the reply; the stage does not."""
    sent = asdict(request)
    del sent["stage"]
    text = json.dumps([model, sent], sort_keys=True, ensure_ascii=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()


def reply_json(reply: ChatReply) -> dict[str, Any]:
    """A reply as JSON."""
    return {"texts": list(reply.texts), "cost": asdict(reply.cost)}


def reply_of(value: Any) -> ChatReply:
    """A reply from such JSON; raises `KeyError`, `TypeError` or `ValueError` for anything else."""
    texts = tuple(value["texts"])
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError("no texts")
    return ChatReply(texts=texts, cost=Cost(**value["cost"]))
