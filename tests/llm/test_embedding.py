"""Vectors from a server, and servers that do not behave."""

import json
from typing import Any

import pytest

from modularsql import Settings
from modularsql.errors import ModelError, SetupError
from modularsql.llm.embedding import RemoteEmbedder
from modularsql.llm.openai_compatible import Server
from modularsql.service.embedding import connect_embedder

from .conftest import Answer, FakeServer, failure

np = pytest.importorskip("numpy")


def embeddings(body: dict[str, Any]) -> Answer:
    """A vector for each text: its length, and 1; in the wrong order."""
    rows = [{"index": i, "embedding": [len(t), 1.0]} for i, t in enumerate(body["input"])]
    return Answer(body=json.dumps({"object": "list", "data": rows[::-1]}))


def embedder(server: FakeServer, **more: Any) -> RemoteEmbedder:
    return RemoteEmbedder("e", Server(url=server.url, **{"seconds": 5.0, "attempts": 2, **more}))


def test_texts_become_unit_vectors_in_their_order(server: FakeServer) -> None:
    server.answers = embeddings
    texts = ["x" * n for n in range(150)]
    found = embedder(server, key="secret").embed(texts)
    assert found.shape == (150, 2)
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert np.allclose(found[:, 0] / found[:, 1], range(150), atol=1e-3)
    assert len(server.bodies) == 3
    assert server.keys[0] == "Bearer secret"
    assert embedder(server).embed([]).shape[0] == 0


@pytest.mark.parametrize(
    "body",
    ["", "no JSON", "[]", '{"data": []}', '{"data": [{"index": 0, "embedding": ["a"]}]}',
     '{"data": [{"index": 0, "embedding": [NaN]}]}', '{"data": [{"index": 0, "embedding": 1}]}',
     '{"data": [{"embedding": [1.0]}]}'],
)  # fmt: skip
def test_what_is_no_vector_is_one_line(
    server: FakeServer, body: str, no_pause: list[float]
) -> None:
    server.answers = [Answer(body=body)]
    with pytest.raises(ModelError, match="holds no vector for each text"):
        embedder(server).embed(["x"])


def test_a_key_that_is_refused_stays_out_of_the_words(server: FakeServer) -> None:
    server.answers = [failure(401, "bad key sk-secret")]
    with pytest.raises(SetupError) as told:
        embedder(server, key="sk-secret").embed(["x"])
    assert "sk-secret" not in str(told.value)


def test_an_embedder_is_bound_by_where_calls_may_go(server: FakeServer) -> None:
    settings = Settings(embedder="e", embedder_url="https://example.org/v1", calls="local")
    with pytest.raises(SetupError, match="beyond this machine"):
        connect_embedder(settings)
    server.answers = embeddings
    here = connect_embedder(Settings(embedder="e", base_url=server.url))
    assert here is not None
    assert here.embed(["abc"]).shape == (1, 2)
    assert connect_embedder(Settings()) is None
