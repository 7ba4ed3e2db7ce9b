"""The studies of `ask` over runs of a scripted model, with baselines and ablations, as Markdown.

    python -m benchmarks.scripted_studies N OUT

N questions of Spider dev, a model that knows gold and errs by a seed (`benchmarks.noisy`). It shows
that the studies work, and says nothing of any model. Solved questions over other databases are the
examples, values are found by letters. Runs are kept in OUT, and continued.
"""

import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.corpus import SPIDER, require, spider_dev
from benchmarks.noisy import Known, NoisyModel
from benchmarks.studies import Seen, catalog, examples, read_run, share_right, studies
from modularsql import Settings
from modularsql.evaluation.datasets import Question, database_file
from modularsql.evaluation.table import Table, markdown
from modularsql.pipeline.generation import GENERATORS
from modularsql.service.indexing import IndexRequest, index
from modularsql.service.predicting import PredictRequest, predict

ROOT = SPIDER / "database"
_PLAIN = "values,linking,generation.icl,generation.divide,revision,selection.judge,guard"
_LEAST = "least relevant examples"
_HEAD = """# Studies of ask, on a scripted model

Written by `python -m benchmarks.scripted_studies {count} OUT`: {count} Spider dev questions over
{databases} databases. **The model is a script** that knows gold and errs by a seed
(`benchmarks/noisy.py`); tokens are characters / 4. The figures show that the studies work and how
they read. They say nothing of how good any model is, nor whether a part of `ask` is worth its
calls: `python -m benchmarks.studies RUN DATASET DB_ROOT` tells that of a run with your own.

EX is equality of multisets with gold as it is, so a guard that mends a faulty gold loses by it.
Values are found by letters (`modularsql index`).
"""
RUNS: Mapping[str, Mapping[str, Any]] = {
    "ask": {},
    "plain chain of thought": {"without": _PLAIN, "samples": 1},
    "consistency voting": {"without": _PLAIN, "samples": 12},
    "without linking.direct": {"without": "linking.direct"},
    "without linking.reversed": {"without": "linking.reversed"},
    "without linking": {"without": "linking"},
    **{f"without generation.{name}": {"without": f"generation.{name}"} for name in GENERATORS},
    "without revision": {"without": "revision"},
    "without selection.judge": {"without": "selection.judge"},
    "without guard": {"without": "guard"},
    "clusters of sets": {"cluster_by": "set"},
    _LEAST: {"example_choice": "farthest"},
    "judged always": {"confidence": 1.0},
}
"""The whole, two baselines on the same model, and ablations; each is nothing but settings."""


def scripted(count: int, out: Path) -> None:
    """Runs with the model that knows gold, and their studies."""
    out.mkdir(parents=True, exist_ok=True)
    asked, solved = _questions(count)
    dataset, solved_file = out / "questions.jsonl", out / "examples.jsonl"
    _write(
        dataset, [{"id": q.id, "db": q.db, "question": q.question, "gold": q.gold} for q in asked]
    )
    _write(solved_file, [{"question": q.question, "sql": q.gold} for q in solved])
    known = {
        q.question: Known(gold=str(q.gold), catalog=catalog(path))
        for q in asked
        if (path := database_file(ROOT, q.db)) is not None
    }
    places: dict[str, Any] = {"timeout": 5.0, "jobs": 2, "index_dir": str(out / "index")}
    for path in {path for q in asked if (path := database_file(ROOT, q.db)) is not None}:
        index(IndexRequest(target=str(path), settings=Settings(**places)))
    table: list[tuple[object, ...]] = []
    made: dict[str, list[Seen]] = {}
    for name, given in RUNS.items():
        folder = out / name.replace(" ", "_")
        settings = Settings(**{**places, **given})
        done = predict(
            PredictRequest(
                dataset=str(dataset), db_root=ROOT, out=folder, settings=settings,
                examples=solved_file, model=NoisyModel(known),
            )
        )  # fmt: skip
        made[name] = read_run(folder, str(dataset), ROOT)
        cost = done.cost
        right = share_right(made[name])
        table.append((name, right, cost.llm_calls / count, cost.prompt_tokens / count))
    print(_HEAD.format(count=count, databases=len({q.db for q in asked})))
    print(markdown(_ablations(table)))
    print(markdown(_examples(made)))
    studies(made["ask"], made["judged always"])


def _questions(count: int) -> tuple[list[Question], list[Question]]:
    """Questions to ask, and solved ones over other databases."""
    able = [q for q in spider_dev().questions if q.gold and database_file(ROOT, q.db)]
    names = sorted({q.db for q in able})
    random.Random(1).shuffle(names)
    open_ = set(names[: len(names) // 2])
    # One of each: the model knows a question by its words.
    different = list({q.question: q for q in able}.values())
    asked = random.Random(1).sample([q for q in different if q.db in open_], count)
    return asked, [q for q in different if q.db not in open_]


def _write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _ablations(lines: list[tuple[object, ...]]) -> Table:
    return Table(
        name="runs", title="Baselines and ablations",
        columns=("setting", "EX", "calls", "tokens in"), rows=lines, percent=frozenset({"EX"}),
    )  # fmt: skip


def _examples(made: Mapping[str, list[Seen]]) -> Table:
    """The most and the least like examples (RQ5)."""
    lines = [(name, *examples(made[name]), share_right(made[name])) for name in ("ask", _LEAST)]
    return Table(
        name="examples", title="Which examples are shown",
        columns=("setting", "Jaccard to gold", "EX of a sample of icl", "EX"), rows=lines,
        percent=frozenset({"EX of a sample of icl", "EX"}),
        note="The scripted model reads no examples: only their likeness to gold means anything.",
    )  # fmt: skip


if __name__ == "__main__":
    require()
    scripted(int(sys.argv[1]), Path(sys.argv[2]))
