"""Where the benchmark data lies: in BENCHMARK_DATA, else `shared/data` beside the checkout.

The data is not part of the repository; what needs it says so and stops.
"""

import os
import sys
from pathlib import Path

from modularsql.evaluation.datasets import Dataset, database_file, read_dataset
from modularsql.evaluation.predictions import Predictions, read_predictions

# No name with our prefix: those are settings, and the commands refuse one that they do not know.
DATA = Path(
    os.environ.get("BENCHMARK_DATA", Path(__file__).parents[1].resolve().parent / "shared/data")
)
SPIDER = DATA / "spider"
BIRD = DATA / "bird"


def require() -> None:
    """Stop with one line where the data is absent."""
    if not SPIDER.is_dir():
        sys.exit(f"no benchmark data at {DATA}; set BENCHMARK_DATA to its folder")


def spider_dev() -> Dataset:
    """Spider's 1,034 development questions."""
    return read_dataset(str(SPIDER / "dev.json"))


def spider_systems() -> list[Path]:
    """The prediction files of Spider dev."""
    return sorted((SPIDER / "predictions_dev").glob("*.txt"))


def bird_superhero() -> tuple[Dataset, list[Path]]:
    """BIRD's development questions and the prediction files; only one database is there."""
    return read_dataset(str(BIRD / "dev.json")), sorted((BIRD / "predictions").iterdir())


def pairs(dataset: Dataset, predictions: Path, root: Path) -> list[tuple[str, Path, str, str]]:
    """(id, database file, gold, prediction) where there is a database and a prediction."""
    read: Predictions = read_predictions(predictions, dataset)
    found = []
    for question, one in zip(dataset.questions, read.items, strict=True):
        path = database_file(root, question.db)
        if path is not None and one.sql and question.gold:
            found.append((question.id, path, question.gold, one.sql))
    return found
