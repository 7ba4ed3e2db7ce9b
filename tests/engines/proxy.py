"""A line to a server that goes wrong as tests want it to."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from urllib.parse import urlsplit, urlunsplit


@dataclass
class Proxy:
    """Passes bytes on to the server of a URL. `cut_after` bytes of the server's, or where the
    client sends `cut_at`, it closes the line; each cut is made once. The first callers are sent
    what stands in `refusals` and no more. For `away` seconds after a cut nobody is let in."""

    url: str
    cut_after: int | None = None
    cut_at: bytes | None = None
    refusals: list[bytes] = field(default_factory=list)
    cuts: int = 0
    away: float = 0.0
    _cut: float = field(default=-inf, init=False)

    def __post_init__(self) -> None:
        at = urlsplit(self.url)
        self._server = (str(at.hostname), at.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        user = at.netloc.rpartition("@")[0]
        port = self._listener.getsockname()[1]
        self.address = urlunsplit(at._replace(netloc=f"{user}@127.0.0.1:{port}"))
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        if time.monotonic() < self._cut + self.away:
            client.close()
            return
        if self.refusals:
            with client, suppress(OSError):
                client.recv(65536)
                client.sendall(self.refusals.pop(0))
            return
        with client, socket.create_connection(self._server) as server:
            back = threading.Thread(target=self._pass, args=(server, client), daemon=True)
            back.start()
            self._pass(client, server)
            back.join()

    def _pass(self, source: socket.socket, to: socket.socket) -> None:
        """Until either side is gone; then neither is there any more."""
        of_client, passed = to.getpeername() == self._server, 0
        with suppress(OSError):
            while data := source.recv(4096):
                passed += len(data)
                if of_client and self.cut_at is not None and self.cut_at in data:
                    self.cut_at, self.cuts, self._cut = None, self.cuts + 1, time.monotonic()
                    break
                if not of_client and self.cut_after is not None and passed > self.cut_after:
                    self.cut_after, self.cuts = None, self.cuts + 1
                    break
                to.sendall(data)
        for end in (source, to):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(url: str) -> Iterator[Proxy]:
    """A proxy to the server of a URL."""
    proxy = Proxy(url)
    try:
        yield proxy
    finally:
        proxy.close()
