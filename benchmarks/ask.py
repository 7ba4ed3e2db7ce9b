"""What the pipeline costs where the model is always right, printed as Markdown.

    python -m benchmarks.ask [QUESTIONS]

The model is a script that knows gold: it links what gold reads and writes gold. So this measures
the pipeline, not a model: how many tokens it sends, how much of the schema it drops, and how long
it takes beside the calls themselves (`benchmarks.ask_speed` says how). Tokens are characters / 4 of
the messages sent; a call for n samples sends its messages once, and both readings are given: once,
and n times.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import mean

from benchmarks.ask_speed import speed
from benchmarks.corpus import BIRD, SPIDER, bird_superhero, require, spider_dev
from modularsql import Guard, Settings, connect
from modularsql.catalog import Catalog
from modularsql.declared.descriptions import FOLDER, read_descriptions, with_descriptions
from modularsql.declared.tables_json import read_tables_json
from modularsql.evaluation.datasets import Question, database_file
from modularsql.llm.script import ScriptedModel
from modularsql.pipeline.closure import closed, whole
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.names_used import names_used
from modularsql.pipeline.prompting import tokens
from modularsql.pipeline.run import Asked, ask
from modularsql.pipeline.schema_text import schema_text
from modularsql.ports import ChatRequest

SETTINGS = Settings(timeout=5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A question, its gold query and the pipeline over its database."""

    question: Question
    deps: Deps


def said(gold: str, links: str) -> Callable[[ChatRequest], str]:
    """What a model that knows gold says at each stage."""

    def say(request: ChatRequest) -> str:
        if request.stage == "values":
            return "[]"
        return links if request.stage == "linking.direct" else gold

    return say


def questions(name: str) -> Iterator[Gold]:
    """The questions of a set whose database is there."""
    dataset, root = (
        (spider_dev(), SPIDER / "database")
        if name == "spider"
        else (bird_superhero()[0], BIRD / "databases")
    )
    open_: dict[Path, Guard] = {}
    for question in dataset.questions:
        path = database_file(root, question.db)
        if path is None or not question.gold:
            continue
        if path not in open_:
            open_[path] = Guard(connect(path, SETTINGS), settings=SETTINGS)
        guard = open_[path]
        described = read_descriptions(path.parent / FOLDER)
        catalog = with_descriptions(guard.engine.catalog(), described)
        places: dict[str, list[str]] = defaultdict(list)
        for table, column in names_used(question.gold, catalog):
            places[table] += [column] if column else []
        model = ScriptedModel(said(question.gold, json.dumps(places)))
        yield Gold(
            question=question,
            deps=Deps(
                model=model,
                engine=guard.engine,
                guard=guard,
                catalog=catalog,
                settings=SETTINGS,
            ),
        )


def sent(asked: Asked) -> Counter[str]:
    """Tokens sent by stage, messages counted once for each call."""
    found: Counter[str] = Counter()
    for stage in asked.trace.stages:
        for call in stage.calls:
            found[call.stage] += sum(map(tokens, call.messages))
    return found


def sampled(asked: Asked) -> int:
    """Tokens sent where a server takes the messages anew for each sample."""
    return sum(
        sum(map(tokens, call.messages)) * len(call.replies)
        for stage in asked.trace.stages
        for call in stage.calls
    )


def cost(name: str, most: int) -> None:
    """Tokens over a set."""
    once, each, by_stage = [], [], Counter[str]()
    for gold in islice(questions(name), most):
        asked = ask(gold.question.question, gold.deps, gold.question.hint)
        spent = sent(asked)
        once.append(spent.total())
        each.append(sampled(asked))
        by_stage.update(spent)
    stages = ", ".join(f"{k} {v / len(once):,.0f}" for k, v in by_stage.most_common(6))
    print(
        f"| {name} | {len(once)} | {mean(once):,.0f} | {max(once):,} | {mean(each):,.0f} "
        f"| {stages} |"
    )


def schemas() -> Iterator[tuple[str, Catalog, str]]:
    """(set, catalog, gold) of every question of Spider dev and BIRD dev, by their key files."""
    for name, dataset, file in (
        ("spider dev", spider_dev(), SPIDER / "tables.json"),
        ("BIRD dev", bird_superhero()[0], BIRD / "dev_tables.json"),
    ):
        tables = json.loads(file.read_text(encoding="utf-8"))
        known: dict[str, Catalog] = {}
        for question in dataset.questions:
            if question.db not in known:
                known[question.db] = read_tables_json(tables, question.db, file.name).catalog
            if question.gold:
                yield name, known[question.db], question.gold


def shrinking() -> None:
    """How much shorter the linked schema is, and whether all that gold needs is in it."""
    found: dict[str, list[tuple[int, float, int, int]]] = defaultdict(list)
    for name, catalog, gold in schemas():
        places = names_used(gold, catalog)
        linked = closed(dict.fromkeys(places, ("gold",)), catalog)
        full, _ = schema_text(whole(catalog, ""), catalog, {}, 10**9)
        text, _ = schema_text(linked, catalog, {}, SETTINGS.schema_tokens)
        there = sum(place in linked.reasons for place in places)
        found[name].append((tokens(full), tokens(full) / tokens(text), there, len(places)))
    print("\n| schemas | questions | whole, tokens | whole / linked, mean | recall |")
    print("|---|---|---|---|---|")
    for name, rows in found.items():
        largest = sorted(rows)[-len(rows) // 4 :]
        for what, part in ((name, rows), (f"{name}, the largest quarter", largest)):
            size = f"{mean(r[0] for r in part):,.0f}"
            recall = sum(r[2] for r in part) / sum(r[3] for r in part)
            ratio = mean(r[1] for r in part)
            print(f"| {what} | {len(part)} | {size} | {ratio:.1f}x | {recall:.1%} |")


def main() -> None:
    """The tables."""
    require()
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10**9
    print("# What `ask` costs\n\nWritten by `python -m benchmarks.ask`; its docstring says how.\n")
    print(
        "| set | questions | tokens sent, mean | most | mean, for each sample anew | by stage |\n"
        + "|---" * 6
        + "|"
    )
    for name in ("spider", "bird"):
        cost(name, most)
    shrinking()
    speed(min(most, 20))


if __name__ == "__main__":
    main()
