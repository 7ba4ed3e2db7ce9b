"""Descriptions of columns from files beside a database, in the forms that BIRD ships."""

from pathlib import Path

import pytest

from modularsql.catalog import Catalog, Column, Table
from modularsql.declared.descriptions import read_descriptions, with_descriptions

HEAD = "original_column_name,column_name,column_description,data_format,value_description\n"
KNOWN = Catalog(
    dialect="sqlite",
    tables=(
        Table(name="Hero", columns=(Column(name="Id"), Column(name="kg", description="kept"))),
        Table(name="other", columns=(Column(name="id"),)),
    ),
)


def described(folder: Path, content: bytes) -> list[str]:
    """The descriptions of all columns of Hero, with such a file for it."""
    (folder / "hero.csv").write_bytes(content)
    catalog = with_descriptions(KNOWN, read_descriptions(folder))
    assert [c.description for t in catalog.tables[1:] for c in t.columns] == [""]
    return [c.description for c in catalog.tables[0].columns]


def test_what_is_said_of_a_column_and_of_its_values(tmp_path: Path) -> None:
    said = 'ID ,,"the number,\n of a hero",integer,"evidence:\n1 is first"\nkg,,not taken,,\n'
    assert described(tmp_path, (HEAD + said).encode()) == [
        "the number, of a hero; evidence: 1 is first",
        "kept",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xef\xbb\xbf" + HEAD.encode() + b"id,,caf\xc3\xa9,,\n", "café"),
        (HEAD.encode() + b"id,,caf\xe9,,\n", "café"),
        (HEAD.encode() + b"id\n,,,,\nnobody,,x,,", ""),
        (b"a,b\n1,2\n", ""),
        (b"", ""),
        (b"\x00\xff\x00", ""),
        (HEAD.encode() + b"id,," + b"x" * 200_000, ""),
    ],
)
def test_files_of_other_forms(tmp_path: Path, content: bytes, said: str) -> None:
    assert described(tmp_path, content)[0] == said


def test_no_folder_says_nothing(tmp_path: Path) -> None:
    assert read_descriptions(tmp_path / "none") == {}
