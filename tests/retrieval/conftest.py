"""Stand-ins for embedders: what they know, they place as a test wants."""

from collections.abc import Sequence
from typing import Any

import pytest


class Directions:
    """An embedder of three directions; each text lies near one of them. `asked` is all it got."""

    def __init__(self, near: dict[str, int], name: str = "directions") -> None:
        self.name = name
        self.near = near
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        """See `ports.Embedder`."""
        np = pytest.importorskip("numpy")
        self.asked += texts
        rows = []
        for text in texts:
            row = np.full(3, 0.05)
            row[self.near.get(text, 2)] = 1.0
            rows.append(row / np.linalg.norm(row))
        return np.array(rows, dtype=np.float32)
