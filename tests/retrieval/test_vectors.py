"""Values by meaning: what is embedded, what is found, and what is left alone."""

from pathlib import Path
from typing import Any

import pytest

from modularsql.errors import InputError, SetupError
from modularsql.ports import Example, Match
from modularsql.retrieval.examples import Examples
from modularsql.retrieval.extraction import Extracted
from modularsql.retrieval.merged import Merged, best_of_columns

from .conftest import Directions

np = pytest.importorskip("numpy")
vectors = pytest.importorskip("modularsql.retrieval.vectors", exc_type=ImportError)

NEAR = {"physician": 0, "doctor": 0, "surgeon": 0, "lamp": 1, "lantern": 1}


def column(*values: str, name: str = "job") -> Extracted:
    return Extracted(table="staff", column=name, values=tuple((v, 1) for v in values))


@pytest.fixture
def embedder() -> Directions:
    return Directions(NEAR)


@pytest.fixture
def index(tmp_path: Path, embedder: Directions) -> Any:
    made = vectors.VectorIndex(tmp_path / "v.sqlite", embedder)
    made.put(column("doctor", "lamp", "cook"))
    return made


def test_a_value_is_found_by_its_meaning(index: Any) -> None:
    (match,) = index.search(["physician"], 5)
    assert (match.value, match.how, match.keyword) == ("doctor", "semantic", "physician")
    assert match.score == pytest.approx(1, abs=0.01)
    assert index.search([], 5) == []


def test_each_column_gives_its_nearest(index: Any) -> None:
    index.put(column("surgeon", name="role"))
    found = {(m.column, m.value) for m in index.search(["physician"], 1)}
    assert found == {("job", "doctor"), ("role", "surgeon")}


def test_only_new_values_are_embedded(index: Any, embedder: Directions) -> None:
    embedder.asked.clear()
    assert index.put(column("doctor", "lamp", "cook")) == 0
    assert index.put(column("lamp", "lantern")) == 1
    assert embedder.asked == ["lantern"]
    assert {m.value for m in index.search(["lantern"], 5)} == {"lamp", "lantern"}
    assert index.search(["physician"], 5) == []


def test_an_index_outlives_its_process(index: Any, embedder: Directions) -> None:
    index.close()
    again = vectors.VectorIndex(index.path, embedder)
    assert [m.value for m in again.search(["physician"], 5)] == ["doctor"]
    again.keep_only([("staff", "other")])
    assert again.search(["physician"], 5) == []


def test_another_embedder_starts_anew(index: Any) -> None:
    other = Directions(NEAR, name="other")
    again = vectors.VectorIndex(index.path, other)
    assert again.search(["physician"], 5) == []
    assert again.put(column("doctor")) == 1


def test_what_stops_in_the_middle_keeps_the_columns_before(index: Any) -> None:
    class Dead(Directions):
        def embed(self, texts: Any) -> Any:
            raise SetupError("no embedder", "", "driver")

    again = vectors.VectorIndex(index.path, Dead(NEAR))
    with pytest.raises(SetupError):
        again.put(column("lamp", name="role"))
    assert [m.column for m in index.search(["physician"], 5)] == ["job"]


def test_large_columns_are_a_graph_and_still_find(tmp_path: Path) -> None:
    class Random(Directions):
        def embed(self, texts: Any) -> Any:
            rows = [np.random.default_rng(int(t)).normal(size=16) for t in texts]
            return np.array([r / np.linalg.norm(r) for r in rows], dtype=np.float32)

    made = vectors.VectorIndex(tmp_path / "v.sqlite", Random({}))
    made.put(column(*map(str, range(1500))))
    found = made.search([str(n) for n in range(0, 1500, 30)], 1)
    assert sum(m.value == m.keyword for m in found) >= 49


def test_a_file_that_is_no_index_is_one_line(tmp_path: Path, embedder: Directions) -> None:
    path = tmp_path / "other"
    path.write_text("something else, long enough to be no database header at all")
    with pytest.raises(InputError, match="no index of vectors"):
        vectors.VectorIndex(path, embedder)


class Fixed:
    """An index that finds what it is given."""

    def __init__(self, *found: Match) -> None:
        self.found = list(found)

    def search(self, keywords: Any, per_column: int) -> list[Match]:
        return self.found


def match(value: str, score: float, how: Any) -> Match:
    return Match(table="t", column="c", value=value, keyword="k", score=score, how=how)


def test_letters_and_meaning_are_merged_by_the_best_score() -> None:
    letters = Fixed(match("a", 1.0, "exact"), match("b", 0.7, "fuzzy"))
    meaning = Fixed(match("a", 0.9, "semantic"), match("c", 0.8, "semantic"))
    found = Merged(letters, meaning).search(["k"], 2)
    assert [(m.value, m.how) for m in found] == [("a", "exact"), ("c", "semantic")]
    assert best_of_columns([], 5) == []


def test_examples_are_found_by_the_meaning_of_masked_questions() -> None:
    solved = [Example(question="lamp", sql="1"), Example(question="doctor", sql="2")]
    by_meaning = Examples(solved, lambda q: q, Directions(NEAR))
    assert [e.sql for e in by_meaning.chosen("physician", 1)] == ["2"]
    farthest = Examples(solved, lambda q: q, Directions(NEAR), "farthest")
    assert [e.sql for e in farthest.chosen("physician", 1)] == ["1"]
    assert Examples([], lambda q: q, Directions(NEAR)).chosen("physician", 1) == []


def test_masking_hides_what_a_question_is_about() -> None:
    solved = [
        Example(question="How many <MASK> are there?", sql="count"),
        Example(question="Which <MASK> has the most <MASK>?", sql="most"),
    ]
    examples = Examples(solved, lambda q: q)
    assert examples.chosen("How many <MASK> are in Bonn?", 1)[0].sql == "count"
    assert examples.chosen("Which <MASK> has the fewest <MASK>?", 1)[0].sql == "most"
