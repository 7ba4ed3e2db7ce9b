"""A real HTTP server on this machine that answers as a test wants it to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from modularsql.llm.openai_compatible import OpenAICompatible, Server
from modularsql.ports import ChatRequest, Message

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP answer. `declared` is a Content-Length that may lie; `wait` comes first, `drip`
    seconds pass between single bytes."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    declared: int | None = None
    wait: float = 0.0
    drip: float = 0.0
    hang_up: bool = False


def completion(*texts: str, usage: Body | None = None, **more: Any) -> Answer:
    """A chat completion as servers send it."""
    counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for i, text in enumerate(texts)
    ]
    body = {"id": "x", "object": "chat.completion", "model": "m", "choices": choices}
    return Answer(body=json.dumps({**body, "usage": counted if usage is None else usage}), **more)


def failure(status: int, message: str = "no", **more: Any) -> Answer:
    """An error as servers send it."""
    return Answer(status=status, body=json.dumps({"error": {"message": message}}), **more)


class FakeServer(ThreadingHTTPServer):
    """Answers from `answers`, the last one for ever, or by a function of the request's body."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Answer] | Callable[[Body], Answer] = [completion("ok")]
        self.bodies: list[Body] = []
        self.keys: list[str | None] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def model(self, **more: Any) -> OpenAICompatible:
        """A client of this server."""
        return OpenAICompatible("m", Server(url=self.url, **{"seconds": 10.0, **more}))

    def next(self, body: Body) -> Answer:
        """The answer to a request."""
        with self.lock:
            self.bodies.append(body)
            if callable(self.answers):
                return self.answers(body)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeServer

    def do_POST(self) -> None:
        server = self.server
        raw = self.rfile.read(int(self.headers["content-length"]))
        with server.lock:
            server.keys.append(self.headers["authorization"])
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            self._answer(server.next(json.loads(raw)))
        finally:
            with server.lock:
                server.at_once -= 1

    def _answer(self, answer: Answer) -> None:
        self.server.over.wait(answer.wait)
        if answer.hang_up:
            self.close_connection = True
            return
        data = answer.body.encode()
        self.send_response(answer.status)
        length = len(data) if answer.declared is None else answer.declared
        for name, value in {"content-length": str(length), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.drip:
            for byte in data:
                if self.server.over.wait(answer.drip):
                    return
                self.wfile.write(bytes([byte]))
        else:
            self.wfile.write(data)
        self.close_connection = answer.declared is not None

    def log_message(self, *args: Any) -> None:
        """Silent."""


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A server on a free port; its threads end with the test."""
    server = FakeServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between attempts are noted and not made."""
    pauses: list[float] = []
    monkeypatch.setattr("modularsql.llm.retrying.pause", pauses.append)
    return pauses


def request(text: str = "hello", **more: Any) -> ChatRequest:
    """A request with one message."""
    return ChatRequest(messages=(Message(role="user", text=text),), **more)


def seconds(work: Callable[[], object]) -> float:
    """How long something takes."""
    start = time.monotonic()
    work()
    return time.monotonic() - start
