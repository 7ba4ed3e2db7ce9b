"""`predict` with a model in a file, on a few questions of Spider dev, printed as Markdown.

    python -m benchmarks.local MODEL.gguf QUESTIONS OUT    (needs the extra `local`)

The whole way is real: prompts, replies, queries, guard. One sample of each generator and of each
linker, since a small model on a processor is slow. The run is kept in OUT, and continued.
"""

import json
import random
import sys
from pathlib import Path
from statistics import median

from benchmarks.corpus import SPIDER, require, spider_dev
from benchmarks.studies import Seen, read_run, rows
from modularsql import Settings
from modularsql.evaluation.datasets import database_file
from modularsql.service.predicting import PredictRequest, PredictSummary, predict

ROOT = SPIDER / "database"


def asked(model: Path, count: int, out: Path) -> tuple[PredictSummary, list[Seen]]:
    """The run over so many questions, drawn by a seed."""
    able = [q for q in spider_dev().questions if q.gold and database_file(ROOT, q.db)]
    chosen = random.Random(1).sample(able, count)
    lines = [{"id": q.id, "db": q.db, "question": q.question, "gold": q.gold} for q in chosen]
    out.mkdir(parents=True, exist_ok=True)
    dataset = out / "questions.jsonl"
    dataset.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    settings = Settings(
        model=f"local:{model}", samples=1, linking_samples=1, threads=1, jobs=1, calls="local"
    )
    run = out / "run"
    summary = predict(
        PredictRequest(dataset=str(dataset), db_root=ROOT, out=run, settings=settings)
    )
    return summary, read_run(run, str(dataset), ROOT)


def main() -> None:
    """The figures."""
    require()
    model, count, out = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    summary, seen = asked(model, count, out)
    runs = sum(bool(one.sql) and rows(one.path, one.sql) is not None for one in seen)
    seconds = [sum(stage["ms"] for stage in one.trace["stages"]) / 1000 for one in seen]
    right = sum(one.right(one.sql) for one in seen)
    print(f"Written by `python -m benchmarks.local {model.name} {count} OUT`:\n")
    print("| questions | with a query | that runs | right | calls | tokens in | out | s, median |")
    print("|---" * 8 + "|")
    cost = summary.cost
    figures = (count, summary.answered, runs, right, cost.llm_calls)
    tokens = (f"{cost.prompt_tokens:,}", f"{cost.completion_tokens:,}", f"{median(seconds):.0f}")
    print("| " + " | ".join(map(str, (*figures, *tokens))) + " |")
    for why, times in summary.problems.items():
        print(f"\n{times} without: {why}")


if __name__ == "__main__":
    main()
