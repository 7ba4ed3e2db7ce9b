"""A model file (GGUF) run in this process by llama.cpp, through the package xllamacpp.

No account, no server to start. Replies are bounded by `max_tokens`, not by a deadline: a call that
runs cannot be ended. Its threads spin while they work, so give it no core that others need.
"""

import secrets
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from modularsql.errors import InputError, ModelError, SetupError
from modularsql.llm.completion import completion_of
from modularsql.llm.openai_compatible import chat_body
from modularsql.llm.retrying import HttpError
from modularsql.ports import ChatReply, ChatRequest
from modularsql.records import Cost

_CONTEXT = 8_192  # tokens of prompt and reply together
_MAGIC = b"GGUF"


class LocalModel:
    """A `Model` in a file; it is loaded by the first request, and answers one at a time."""

    def __init__(self, path: Path, threads: int) -> None:
        """Raises `InputError` for a file that is no model, `SetupError` without xllamacpp."""
        self.name = path.name
        self._path, self._threads = path, threads
        self._lock = threading.Lock()
        self._server: Any = None
        try:
            with path.open("rb") as file:
                is_model = file.read(len(_MAGIC)) == _MAGIC
        except OSError as error:
            raise InputError(f"cannot read the model {path}: {error.strerror}") from error
        if not is_model:
            raise InputError(f"{path} is no GGUF model", "download one that llama.cpp can run")
        try:
            import xllamacpp  # noqa: F401 - loading it says whether it is there
        except ImportError as error:
            raise SetupError(
                "running a local model needs xllamacpp",
                "pip install 'modularsql[local]', or give base_url a server",
                "driver",
            ) from error

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; samples are made one after the other."""
        singles = [
            replace(request, n=1, seed=None if request.seed is None else request.seed + i)
            for i in range(request.n)
        ]
        replies = [self._one(single) for single in singles]
        return ChatReply(
            texts=tuple(reply.texts[0] for reply in replies),
            cost=sum((reply.cost for reply in replies), Cost()),
        )

    def _one(self, request: ChatRequest) -> ChatReply:
        body = chat_body(self.name, request)
        with self._lock:
            if self._server is None:
                self._server = self._load()
            value = self._server.handle_chat_completions(body)
        if isinstance(value, dict) and isinstance(value.get("error"), dict):
            raise ModelError(f"{self.name}: {value['error'].get('message', 'no reply')}")
        try:
            return completion_of(value)
        except HttpError as error:
            raise ModelError(f"{self.name} gave {error.words}") from None

    def _load(self) -> Any:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.n_ctx, params.n_parallel = _CONTEXT, 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.warmup, params.verbosity = False, -1
        # llama.cpp also listens on a port of this machine; nobody else knows this key to it.
        params.api_keys = [secrets.token_hex(16)]
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise SetupError(f"the model {self._path} cannot be loaded: {error}") from error
