"""Further queries that some scores need: run only when they can decide something."""

from tests.evaluation.pairs import compared, ran

from modularsql.evaluation.further import all_scores, with_ties
from modularsql.evaluation.metrics import METRICS
from modularsql.evaluation.pair import Pair
from modularsql.rows import Rows

GIG = "CREATE TABLE gig(yr INTEGER); INSERT INTO gig VALUES(2014),(2014),(2015),(2015),(2016);"


class Desk:
    """Runs queries on the small database and remembers them."""

    def __init__(self, fails: str = "") -> None:
        self.asked: list[str] = []
        self.fails = fails

    def __call__(self, sql: str) -> Rows | None:
        self.asked.append(sql)
        return None if self.fails and self.fails in sql else ran(GIG, sql)


def gig(gold: str, pred: str) -> Pair:
    return compared(GIG, gold=gold, pred=pred)


def test_ties_are_asked_for_only_where_they_are_open() -> None:
    desk = Desk()
    top = "SELECT yr FROM gig GROUP BY yr ORDER BY COUNT(*) DESC, yr LIMIT 1"
    for pair in (gig(top, top), gig("SELECT yr FROM gig", top), gig(top, "SELECT 1, 2")):
        assert with_ties(pair, desk) is pair
    assert desk.asked == []
    open_ = gig(top.replace(", yr", ""), "SELECT 2015")
    if not open_.same_bag:
        assert with_ties(open_, desk).tied is True
        assert len(desk.asked) == 1
    assert with_ties(gig(top, "SELECT 2016"), Desk()).tied is False


def test_a_changed_text_is_scored_on_its_own_rows() -> None:
    desk = Desk()
    pair = gig("SELECT DISTINCT yr FROM gig", "SELECT yr FROM gig")
    found = all_scores(pair, METRICS.values(), desk)
    assert found["spider_ex"] == 0
    assert found["spider_ex_no_distinct"] == 1
    assert desk.asked == ["SELECT  yr FROM gig"]
    assert list(found) == list(METRICS)


def test_identical_results_may_differ_once_the_texts_are_changed() -> None:
    pair = gig("SELECT DISTINCT yr FROM gig", "SELECT yr FROM gig GROUP BY yr")
    found = all_scores(pair, METRICS.values(), Desk())
    assert found["spider_ex"] == 1
    assert found["spider_ex_no_distinct"] == 0


def test_texts_that_are_not_changed_are_not_run_again() -> None:
    desk = Desk()
    assert all_scores(gig("SELECT 1", "SELECT 1"), METRICS.values(), desk)["spider_ex"] == 1
    assert desk.asked == []


def test_a_changed_text_that_fails_is_wrong_or_undecided() -> None:
    pair = gig("SELECT DISTINCT yr FROM gig", "SELECT DISTINCT yr + 0 FROM gig")
    metric = METRICS["spider_ex_no_distinct"]
    assert all_scores(pair, [metric], Desk(fails="+ 0")) == {metric.name: 0}
    assert all_scores(pair, [metric], Desk(fails="SELECT")) == {metric.name: None}
