"""Vectors from any server that speaks the OpenAI protocol's `/embeddings`."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from modularsql.llm.openai_compatible import Server
from modularsql.llm.reach import check_reach
from modularsql.llm.retrying import HttpError, Retrying

if TYPE_CHECKING:
    import numpy as np
    import openai
    from numpy.typing import NDArray

_BATCH = 64


class RemoteEmbedder:
    """An `Embedder` on a server."""

    def __init__(self, name: str, server: Server) -> None:
        """Nothing is sent before the first text."""
        self.name = name
        self._server = server
        self._retrying = Retrying(seconds=server.seconds, attempts=server.attempts)
        check_reach(server.url, server.calls)

    @cached_property
    def _client(self) -> "openai.OpenAI":
        return self._server.client()

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `ports.Embedder`; several requests at a time where there are many texts."""
        import numpy as np

        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        _ = self._client  # to import the library takes seconds, which are not the server's
        parts = [list(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
        with ThreadPoolExecutor(min(len(parts), self._server.concurrency)) as threads:
            found = list(threads.map(self._ask, parts))
        if len({part.shape[1] for part in found}) > 1:
            raise self._server.said(self.name, HttpError(status=0, words=_UNEVEN))
        return np.concatenate(found)

    def _ask(self, texts: list[str]) -> "NDArray[np.float32]":
        create = self._client.embeddings.with_streaming_response.create
        body = {"model": self.name, "input": texts, "encoding_format": "float"}
        try:
            return self._retrying.run(
                lambda attempt: read_vectors(self._server.send(create, body, attempt), len(texts))
            )
        except HttpError as failure:
            raise self._server.said(self.name, failure) from None


_UNEVEN = "vectors of different length"


def read_vectors(raw: bytes, count: int) -> "NDArray[np.float32]":
    """So many vectors of a reply, made of unit length; `HttpError` where it holds no such thing."""
    import numpy as np

    try:
        value: Any = json.loads(raw)
        rows = sorted(value["data"], key=lambda row: row["index"])
        found: NDArray[np.float32] = np.array([row["embedding"] for row in rows], dtype=np.float32)
        if found.ndim != 2 or len(found) != count or not np.isfinite(found).all():
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        what = "a reply that holds no vector for each text"
        raise HttpError(status=0, words=what, again=True) from None
    length = np.linalg.norm(found, axis=1, keepdims=True)
    unit: NDArray[np.float32] = found / np.maximum(length, 1e-12)
    return unit
