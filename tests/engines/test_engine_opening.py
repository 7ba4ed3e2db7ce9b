"""An engine opens existing databases only, whatever they are called, and leaves nothing beside."""

import os
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.errors import InputError, SetupError
from modularsql.ports import Engine
from modularsql.records import Limits
from modularsql.rows import Rows

pytestmark = pytest.mark.files
Untouched = Callable[[], AbstractContextManager[None]]

ONE = ("CREATE TABLE t(x INTEGER)", "INSERT INTO t VALUES (7)")
ODD_NAMES = [
    "plain.db",
    "with space.db",
    "a#b.db",
    "a?mode=rwc.db",
    "a%20b.db",
    "a%.db",
    "a&b=c;d.db",
    'it\'s "quoted".db',
    "*[x].db",
    "ünïcode😀.db",
    "no_suffix",
    ".hidden",
    "select.db",
    "temp.db",
    "main.db",
    "information_schema.db",
    "new\nline.db",
]


def seven(engine: Engine, limits: Limits) -> bool:
    outcome = engine.execute("SELECT x FROM t", limits=limits)
    return isinstance(outcome, Rows) and outcome.rows == [(7,)]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_file_name_opens(
    near: Any, folder: Path, limits: Limits, untouched: Untouched, name: str
) -> None:
    near.build(folder / name, ONE)
    with untouched():
        engine = near.open(folder / name, None)
        assert seven(engine, limits)
        assert [table.name for table in engine.catalog()] == ["t"]
        engine.close()


def test_an_odd_name_opens_in_any_process(
    kind: Any, folder: Path, limits: Limits, untouched: Untouched
) -> None:
    kind.build(folder / "a#b ?%20.db", ONE)
    with untouched():
        engine = kind.open(folder / "a#b ?%20.db", None)
        assert seven(engine, limits)
        engine.close()


@pytest.mark.parametrize("name", [":memory:", "md:x", "s3:x", "sqlite:x", "file:x", "-"])
def test_a_relative_name_is_never_anything_but_a_file(
    near: Any, folder: Path, limits: Limits, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    near.build(folder / "plain.db", ONE)
    (folder / "plain.db").rename(folder / name)
    monkeypatch.chdir(folder)
    engine = near.open(name, None)
    assert seven(engine, limits)
    engine.close()


def test_a_link_to_a_database_opens(
    near: Any, folder: Path, limits: Limits, untouched: Untouched
) -> None:
    near.build(folder / "real.db", ONE)
    (folder / "links").mkdir()
    (folder / "links" / "link.db").symlink_to("../real.db")
    with untouched():
        engine = near.open(folder / "links" / "link.db", None)
        assert seven(engine, limits)
        assert engine.name == str(folder / "links" / "link.db")
        engine.close()


def test_a_path_that_leads_nowhere_is_an_error_and_creates_nothing(
    kind: Any, folder: Path, untouched: Untouched
) -> None:
    (folder / "dangling.db").symlink_to("nowhere.db")
    with untouched():
        for path in (
            folder / "missing.db",
            folder / "no_folder" / "missing.db",
            folder / "dangling.db",
            folder / "nul\0.db",
            f"{kind.dialect}:///{folder}/missing.db",
        ):
            with pytest.raises(InputError) as caught:
                kind.open(path, None)
            assert caught.value.kind == "not_found"


def test_what_is_no_file_is_an_error(kind: Any, folder: Path) -> None:
    (folder / "folder.db").mkdir()
    os.mkfifo(folder / "pipe.db")
    with socket.socket(socket.AF_UNIX) as bound:
        os.chdir(folder)  # a socket's address is short; `folder` restores the working folder
        bound.bind("socket.db")
    for name in ("folder.db", "pipe.db", "socket.db"):
        with pytest.raises(InputError, match=r"is a folder|is no regular file"):
            kind.open(folder / name, None)


def test_a_file_that_is_no_database_is_an_error(
    near: Any, folder: Path, untouched: Untouched
) -> None:
    other = b"SQLite format 3\0" if near.dialect == "duckdb" else b"checksumDUCK"
    contents = {
        "empty.db": b"",
        "short.db": b"S",
        "junk.db": b"\0\xff" * 5_000,
        "truncated.db": b"SQLite format 3\0" + b"\0" * 100,
        "broken.db": b"12345678DUCK" + b"\0" * 10_000,
        "text.db": b"CREATE TABLE t(x);",
        "other.db": other + b"\0" * 84,
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    with untouched():
        for name in contents:
            with pytest.raises((InputError, SetupError)) as caught:
                near.open(folder / name, Settings(timeout=1))
            assert caught.value.kind == "not_a_database", name


def test_a_file_without_permission_is_an_error(
    kind: Any, folder: Path, request: pytest.FixtureRequest
) -> None:
    kind.build(folder / "secret.db", ONE)
    (folder / "secret.db").chmod(0)
    request.getfixturevalue("unprivileged")
    with pytest.raises(SetupError, match="Permission denied"):
        kind.open(folder / "secret.db", None)


@pytest.mark.parametrize("form", ["{0}:///{1}", "{0}+driver:///{1}", "{2}:///{1}"])
def test_a_url_opens(near: Any, folder: Path, limits: Limits, form: str) -> None:
    path = folder / "a#b ?.db"
    near.build(path, ONE)
    engine = near.open(form.format(near.dialect, path, near.dialect.upper()), None)
    assert seven(engine, limits)
    engine.close()


def test_a_relative_url_opens(
    near: Any, folder: Path, limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    near.build(folder / "plain.db", ONE)
    monkeypatch.chdir(folder)
    engine = near.open(f"{near.dialect}:///plain.db", None)
    assert seven(engine, limits)
    engine.close()


def test_a_url_of_another_kind_is_an_error(kind: Any, folder: Path) -> None:
    kind.build(folder / "plain.db", ONE)
    other = "sqlite" if kind.dialect == "duckdb" else "duckdb"
    with pytest.raises(InputError, match=f"is a {kind.dialect} database, not {other}"):
        kind.open(f"{other}:///{folder}/plain.db", None)


def test_a_url_of_an_unknown_kind_is_an_error_that_keeps_its_secrets(kind: Any) -> None:
    with pytest.raises(SetupError) as unknown:
        kind.open("nosuchkind://user:secret@host/db", None)
    assert unknown.value.kind == "driver"
    with pytest.raises(SetupError) as later:
        kind.open("postgresql+psycopg://user:secret@127.0.0.1:1/db", None)
    assert later.value.kind == "unreachable"
    assert "secret" not in f"{unknown.value}{later.value}"


def test_an_engine_goes_on_after_the_working_folder_changed(
    kind: Any, folder: Path, limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind.build(folder / "plain.db", ONE)
    monkeypatch.chdir(folder)
    engine = kind.open("plain.db", None)
    monkeypatch.chdir(folder.parent)
    assert seven(engine, limits)
    engine.close()


def test_two_engines_on_one_file_work_side_by_side(kind: Any, folder: Path, limits: Limits) -> None:
    kind.build(folder / "plain.db", ONE)
    first = kind.open(folder / "plain.db", None)
    second = kind.open(folder / "plain.db", None)
    assert seven(first, limits)
    first.close()
    assert seven(second, limits)
    second.close()
