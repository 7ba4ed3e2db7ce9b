"""From settings to an embedder. To add a kind: its adapter and a line in `_KINDS`."""

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from modularsql.config import Settings
from modularsql.errors import InputError, SetupError
from modularsql.llm.connect import server_of
from modularsql.ports import Embedder


def connect_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; None where they name none. Nothing is sent yet.

    Raises `InputError` and `SetupError` for what can be known beforehand.
    """
    if not settings.embedder:
        return None
    if not find_spec("numpy"):
        hint = "pip install 'modularsql[retrieval]'"
        raise SetupError("looking up by meaning needs numpy", hint, "driver")
    kind, _, rest = settings.embedder.partition(":")
    return _KINDS[kind](rest) if kind in _KINDS else _server(settings)


def _server(settings: Settings) -> Embedder:
    from modularsql.llm.embedding import RemoteEmbedder

    url = settings.embedder_url or settings.base_url
    server = server_of(settings.embedder, replace(settings, base_url=url))
    return RemoteEmbedder(settings.embedder, server)


def _minilm(rest: str) -> Embedder:
    from modularsql.retrieval.minilm import packaged

    return packaged()


def _local(folder: str) -> Embedder:
    from modularsql.retrieval.minilm import from_folder

    if not folder:
        raise InputError("local: names no folder", "write local:FOLDER")
    return from_folder(Path(folder))


_KINDS: dict[str, Callable[[str], Embedder]] = {"minilm": _minilm, "local": _local}
