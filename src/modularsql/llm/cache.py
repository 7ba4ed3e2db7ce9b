"""Replies kept in a SQLite file: the same request is paid for once, and gets the same reply."""

import json
import sqlite3
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from modularsql.errors import InputError
from modularsql.llm.keys import reply_json, reply_of, request_key
from modularsql.ports import ChatReply, ChatRequest, Model
from modularsql.records import Cost

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)"


class Cache:
    """A model whose replies are remembered. A reply from memory costs nothing.

    Requests and replies may hold rows of a database: keep the file where those may be kept.
    """

    def __init__(self, model: Model, path: Path) -> None:
        """Raises `InputError` where the file cannot be used."""
        self._model = model
        self._lock = threading.Lock()
        self.name = model.name
        try:
            self._file = sqlite3.connect(path, check_same_thread=False, timeout=10)
            with self._file:
                self._file.execute(_TABLE)
        except sqlite3.Error as error:
            raise InputError(
                f"cannot keep replies in {path}: {error}", "name another file"
            ) from error

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`."""
        key = request_key(self.name, request)
        if (known := self._known(key)) is not None:
            return replace(known, cost=Cost())
        reply = self._model.chat(request)
        # A full disk or a locked file loses this reply for later, not the answer it belongs to.
        with suppress(sqlite3.Error), self._lock, self._file:
            text = json.dumps(reply_json(reply))
            self._file.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, text))
        return reply

    def _known(self, key: str) -> ChatReply | None:
        try:
            with self._lock:
                found = self._file.execute("SELECT reply FROM replies WHERE key = ?", (key,))
                row = found.fetchone()
            return None if row is None else reply_of(json.loads(row[0]))
        except (sqlite3.Error, KeyError, TypeError, ValueError):
            return None  # a damaged entry is asked for anew

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()
