"""Replies written down in a JSONL file, and read back from it without a model."""

import json
import threading
from pathlib import Path

from modularsql.errors import InputError, ModelError
from modularsql.llm.keys import reply_json, reply_of, request_key
from modularsql.ports import ChatReply, ChatRequest, Model

_ANY = "replay"


class Recorder:
    """A model whose replies are appended to a file, for `Player` to read."""

    def __init__(self, model: Model, path: Path) -> None:
        """Raises `InputError` where the file cannot be written."""
        self._model = model
        self._path = path
        self._lock = threading.Lock()
        self.name = model.name
        try:
            path.open("a", encoding="utf-8").close()
        except OSError as error:
            raise InputError(
                f"cannot record to {path}: {error.strerror}", "check the path"
            ) from error

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`."""
        reply = self._model.chat(request)
        entry = {
            "key": request_key(_ANY, request),
            "model": self.name,
            "stage": request.stage,
            "messages": [[message.role, message.text] for message in request.messages],
            "reply": reply_json(reply),
        }
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        return reply


class Player:
    """The replies of a recording. The last one recorded for a request counts."""

    def __init__(self, path: Path) -> None:
        """Raises `InputError` for a file that cannot be read or is no recording."""
        self.name = f"replay:{path}"
        self._replies: dict[str, ChatReply] = {}
        try:
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self._replies[entry["key"]] = reply_of(entry["reply"])
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}", "check the path") from error
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is no recording of replies: {error}") from error

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; `ModelError` for a request that was not recorded."""
        reply = self._replies.get(request_key(_ANY, request))
        if reply is None:
            raise ModelError(
                f"{self.name} holds no reply to this request",
                "record it with the setting record, and a model",
                "not_recorded",
            )
        return reply
