"""The studies of `ask` over runs of a scripted model, with baselines and ablations, as Markdown.

    python -m benchmarks.scripted_studies N OUT

N questions of Spider dev, a model that knows gold and errs by a seed (`benchmarks.noisy`). It shows
that the studies work, and says nothing of any model. Runs are kept in OUT, and continued.
"""

import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.corpus import SPIDER, require, spider_dev
from benchmarks.noisy import Known, NoisyModel
from benchmarks.studies import Seen, catalog, read_run, share_right, studies
from modularsql import Settings
from modularsql.evaluation.datasets import database_file
from modularsql.evaluation.table import Table, markdown
from modularsql.pipeline.generation import GENERATORS
from modularsql.service.predicting import PredictRequest, predict

_PLAIN = "values,linking,generation.icl,generation.divide,revision,selection.judge,guard"
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
}
"""The whole, two baselines on the same model, and ablations; each is nothing but settings."""


def scripted(count: int, out: Path) -> None:
    """Runs with the model that knows gold, and their studies."""
    root = SPIDER / "database"
    out.mkdir(parents=True, exist_ok=True)
    able = [q for q in spider_dev().questions if q.gold and database_file(root, q.db)]
    # One of each: the model knows a question by its words.
    chosen = random.Random(1).sample(list({q.question: q for q in able}.values()), count)
    known, lines = {}, []
    for q in chosen:
        path = database_file(root, q.db)
        assert path is not None
        known[q.question] = Known(gold=str(q.gold), catalog=catalog(path))
        lines.append(json.dumps({"id": q.id, "db": q.db, "question": q.question, "gold": q.gold}))
    dataset = out / "questions.jsonl"
    dataset.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = []
    made: dict[str, list[Seen]] = {}
    for name, given in {**RUNS, "judged always": {"confidence": 1.0}}.items():
        folder = out / name.replace(" ", "_")
        settings = Settings(**{"timeout": 5.0, "jobs": 2, **given})
        done = predict(
            PredictRequest(
                dataset=str(dataset), db_root=root, out=folder, settings=settings,
                model=NoisyModel(known),
            )
        )  # fmt: skip
        made[name] = read_run(folder, str(dataset), root)
        cost = done.cost
        table.append(
            (name, share_right(made[name]), cost.llm_calls / count, cost.prompt_tokens / count)
        )
    names = ("setting", "EX", "calls", "tokens in")
    shown = Table(
        name="runs", title="Baselines and ablations", columns=names, rows=table,
        percent=frozenset({"EX"}),
    )  # fmt: skip
    print("# Studies of ask, on a scripted model\n")
    print(f"Written by `python -m benchmarks.scripted_studies {count} OUT`: {count} Spider dev")
    print(
        "questions, a model that knows gold and errs by a seed. It shows what the studies tell, and"
    )
    print("says nothing of any model.\n")
    print(markdown(shown))
    studies(made["ask"], made["judged always"])


if __name__ == "__main__":
    require()
    scripted(int(sys.argv[1]), Path(sys.argv[2]))
