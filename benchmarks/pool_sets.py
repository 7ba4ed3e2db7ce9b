"""Candidate pools to rescue from, and judges for whom no server is needed.

Two kinds: samples of one model (Spider, BIRD's refiner), and the answers of all published systems
to a question, of which each system in turn is the base.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import BIRD, SPIDER, bird_superhero, pairs, spider_dev, spider_systems
from modularsql.asking.prompts import clipped
from modularsql.evaluation.datasets import Dataset, database_file, read_dataset
from modularsql.evaluation.pools import read_pools
from modularsql.guard.shown import LONGEST_SQL
from modularsql.ports import ChatReply, ChatRequest
from modularsql.records import Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question with the query that was selected and the candidates."""

    id: str
    database: Path
    question: str
    hint: str
    gold: str
    base: str
    pool: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSet:
    """Cases with a name; the base of a sampled pool is its first candidate."""

    name: str
    cases: tuple[Case, ...]


def pool_sets() -> Iterator[PoolSet]:
    """All sets, the sampled ones first."""
    yield from sampled_sets()
    yield _of_systems("Spider dev", spider_dev(), spider_systems(), SPIDER / "database")
    dataset, systems = bird_superhero()
    yield _of_systems("BIRD superhero", dataset, systems, BIRD / "databases")


def sampled_sets() -> Iterator[PoolSet]:
    """The pools that one model's samples make."""
    for file, title in (("k16", "16 samples"), ("gpt-4o-k8", "8 samples of gpt-4o")):
        path = SPIDER / "pools_dev" / f"{file}.jsonl"
        yield _sampled(f"Spider dev, {title}", spider_dev(), path, SPIDER / "database")
    bird = read_dataset(str(BIRD / "dev.json"))
    refiner = BIRD / "pools" / "refiner.jsonl"
    yield _sampled("BIRD superhero, refiner", bird, refiner, BIRD / "databases")


def _sampled(name: str, dataset: Dataset, path: Path, root: Path) -> PoolSet:
    pools = read_pools(path, dataset)
    cases = []
    for question in dataset.questions:
        database, pool = database_file(root, question.db), pools.get(question.id)
        if database is None or not pool or not question.gold:
            continue
        cases.append(
            Case(
                id=question.id,
                database=database,
                question=question.question,
                hint=question.hint,
                gold=question.gold,
                base=pool[0],
                pool=pool,
            )
        )
    return PoolSet(name=name, cases=_in_a_row(cases))


def _of_systems(name: str, dataset: Dataset, systems: list[Path], root: Path) -> PoolSet:
    asked = {question.id: question for question in dataset.questions}
    answers: dict[str, list[tuple[str, Path, str, str]]] = {}
    for system in systems:
        for id_, database, gold, sql in pairs(dataset, system, root):
            answers.setdefault(id_, []).append((system.stem, database, gold, sql))
    cases = [
        Case(
            id=f"{system} {id_}",
            database=database,
            question=asked[id_].question,
            hint=asked[id_].hint,
            gold=gold,
            base=sql,
            pool=tuple(other for *_, other in found),
        )
        for id_, found in answers.items()
        for system, database, gold, sql in found
    ]
    title = f"{name}, the answers of {len(systems)} systems, each in turn the base"
    return PoolSet(name=title, cases=_in_a_row(cases))


def _in_a_row(cases: list[Case]) -> tuple[Case, ...]:
    """Those on one database one after the other, so that few are open."""
    return tuple(sorted(cases, key=lambda case: str(case.database)))


_ENTRY = re.compile(r"\[(\d+)\]\n<data>\nSQL: (.*?)\nResult: ", re.DOTALL)


class StandIn:
    """A judge that is no model: `best` picks a right candidate where there is one (what no judge
    can beat), `chance` any by a hash of the prompt (what each judge should beat)."""

    def __init__(self, kind: str) -> None:
        self.name = kind
        self.right: frozenset[str] = frozenset()

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; costs nothing and takes no time."""
        entries = _ENTRY.findall(request.messages[-1].text)
        if self.name == "best":
            wanted = {as_shown(sql) for sql in self.right}
            picked = next((number for number, sql in entries if sql in wanted), None)
        else:
            digest = hashlib.sha256(request.messages[-1].text.encode()).digest()
            picked = entries[digest[0] % len(entries)][0] if entries else None
        if request.schema is not None:
            text = f'{{"choice": {"null" if picked is None else picked}, "reason": "{self.name}"}}'
        else:
            text = "NONE" if picked is None else picked
        return ChatReply(texts=(text,), cost=Cost(llm_calls=1))


def as_shown(sql: str) -> str:
    """SQL as a prompt shows it."""
    return clipped(" ".join(sql.split()), LONGEST_SQL)
