"""A model's server on this machine, in a process of its own: every request takes as long.

What it says is a scripted model's; a server that gives one sample a request has it say something
else each time the same request comes. Which stage asks is told from the prompt's own words.
"""

import json
import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any

from modularsql.ports import ChatRequest, Message, Model

_STAGES = {
    "terms that may be stored as values": "values",
    "reply with one JSON object only": "linking.direct",
    "through three steps": "generation.skeleton",
    "split the question into smaller ones": "generation.divide",
    "A check of this query says": "revision",
    "the letter of the better one": "selection",
    "You choose among SQL queries": "rescue",
    "Return nothing but the final SQL": "generation.icl",
}
"""Words of the prompts, by which a server tells them; the last are those of other prompts, too."""

Script = Callable[[int], Model]
"""The model that speaks when a request comes for the so-manieth time; it is sent to the server's
process."""


class _SlowServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, script: Script, latency: float, samples: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._script, self.latency, self._samples = script, latency, samples
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def said(self, body: dict[str, Any]) -> list[str]:
        """The replies to a request: as many as it asks for, or one."""
        messages = tuple(Message(role=m["role"], text=m["content"]) for m in body["messages"])
        text = "\n".join(message.text for message in messages)
        with self._lock:
            time_of_it = self._seen[text]
            self._seen[text] += 1
        stage = next(stage for words, stage in _STAGES.items() if words in text)
        request = ChatRequest(
            messages=messages, stage=stage, n=body.get("n", 1) if self._samples else 1
        )
        return list(self._script(time_of_it).chat(request).texts)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _SlowServer

    def do_POST(self) -> None:
        begin = time.perf_counter()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        choices = [{"message": {"content": text}} for text in self.server.said(body)]
        data = json.dumps({"choices": choices}).encode()
        time.sleep(max(0.0, self.server.latency - (time.perf_counter() - begin)))
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Silent."""


@contextmanager
def slow_server(script: Script, latency: float, samples: bool) -> Iterator[str]:
    """The base URL of a server; `samples` says whether a request gets all that it wants."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=_serve, args=(theirs, script, latency, samples), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _serve(parent: "Connection[Any, Any]", script: Script, latency: float, samples: bool) -> None:
    server = _SlowServer(script, latency, samples)
    parent.send(server.server_address[1])
    server.serve_forever()
