"""A database may go by a name: `env:VARIABLE`, or an entry of the settings file."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import database_url, load
from modularsql.engines.connect import connect, locate
from modularsql.errors import InputError
from modularsql.records import Limits
from modularsql.rows import Rows

URL = "postgresql://reader:${SHOP_PASSWORD}@db.example/shop"


@pytest.fixture
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "modularsql.toml"
    path.write_text(f'timeout = 5\n[databases]\nshop = "{URL}"\nlocal = "made.db"\nodd = 5\n')
    return path


def test_an_entry_stands_for_its_url_with_variables_put_in(settings_file: Path) -> None:
    assert load().timeout == 5
    found = database_url("shop", settings_file, {"SHOP_PASSWORD": "s3cret"})
    assert found == "postgresql://reader:s3cret@db.example/shop"
    assert database_url("unknown", settings_file, {}) is None


def test_a_name_in_place_of_a_target(
    settings_file: Path, monkeypatch: pytest.MonkeyPatch, kinds: Any
) -> None:
    kinds["sqlite"].build(settings_file.parent / "made.db", ["CREATE TABLE t(x)"])
    for name in ("local", "env:SOME_DATABASE"):
        monkeypatch.setenv("SOME_DATABASE", "sqlite:///made.db")
        with closing(connect(name)) as engine:
            assert isinstance(engine.execute("SELECT x FROM t", limits=Limits()), Rows)
    monkeypatch.setenv("SHOP_PASSWORD", "s3cret")
    place = locate("shop")
    assert place.address is not None
    assert place.address.password == os.environ["SHOP_PASSWORD"]
    assert "s3cret" not in f"{place!r}{place.shown}"


def test_a_file_is_never_taken_for_a_name(settings_file: Path) -> None:
    (settings_file.parent / "shop").write_text("")
    assert locate("shop").path == Path("shop")


@pytest.mark.parametrize(
    ("name", "said"),
    [("shop", "SHOP_PASSWORD"), ("odd", "is no text"), ("env:NO_SUCH", "NO_SUCH is not set")],
)
def test_a_name_that_cannot_be_used_says_why(
    settings_file: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.delenv("SHOP_PASSWORD", raising=False)
    with pytest.raises(InputError, match=said) as caught:
        locate(name)
    assert "reader" not in str(caught.value)
