"""The page of a trace: what it says, and that nobody's text becomes a part of it."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from modularsql.errors import InputError
from modularsql.pipeline.trace_page import page
from modularsql.service.asking import trace_json, write_trace

from .conftest import Pipeline

INFLATED = "SELECT SUM(p.total) FROM purchase p JOIN line l ON l.purchase_id = p.id"
EVIL = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>'\"&"


class Tags(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(pipeline: Pipeline, question: str, said: Any, **more: Any) -> Tags:
    return Tags(page(trace_json(pipeline(question, said, **more).trace)))


def test_the_way_of_an_answer_is_told(pipeline: Pipeline) -> None:
    found = shown(pipeline, "What is the total of all purchases?", {"": INFLATED}, hint="all")
    for words in (
        "verdict repair",
        "confidence 100%",
        "12 samples, 1 candidate",
        "Candidate 1: written 12 times, by skeleton, icl, divide.",
        "1 asked for, 0 kept",
        "grain: fan_out_sum",
        "the model left it as it is",
        "linking.direct",
        "Hint: all",
        "calls, 3 in a row",
    ):
        assert words in found.text, words
    assert found.tags.count("script") == 0


@pytest.mark.parametrize(
    ("said", "heading", "told"),
    [
        ("NOT ANSWERABLE: it sells lamps.", "Why there is no answer", "it sells lamps"),
        ("prose", "Why there is no answer", "the first reply begins: prose"),
        ("SELECT nope FROM customer", "Where the answer came from", "nope"),
    ],
)
def test_every_end_has_a_page(pipeline: Pipeline, said: str, heading: str, told: str) -> None:
    found = shown(pipeline, "Why?", {"": said})
    assert heading in found.text
    assert told in found.text


def test_nothing_of_a_stranger_is_an_element(pipeline: Pipeline) -> None:
    def say(request: Any) -> str:
        return f"SELECT '{EVIL.replace(chr(39), '')}' AS x FROM customer"

    found = shown(pipeline, EVIL, say, hint=EVIL)
    assert {"script", "img", "link", "iframe"}.isdisjoint(found.tags)
    assert EVIL in found.text
    names = {name for name, _ in found.attributes}
    assert not [name for name in names if name.startswith("on") or name == "src"]
    policy = dict(found.attributes)["content"]
    assert policy is not None


def test_the_name_of_the_file_says_the_form(pipeline: Pipeline, tmp_path: Path) -> None:
    trace = pipeline("Who?", {"": "SELECT name FROM customer"}).trace
    write_trace(trace, tmp_path / "t.html")
    write_trace(trace, tmp_path / "t.json")
    assert (tmp_path / "t.html").read_text("utf-8").startswith("<!doctype html>")
    assert json.loads((tmp_path / "t.json").read_text("utf-8"))["question"] == "Who?"
    with pytest.raises(InputError, match="cannot write the trace"):
        write_trace(trace, tmp_path / "none" / "t.html")
