"""A scripted model that knows gold and errs by a seed: for trying studies out, not for scores.

Each sample is gold, or gold with one thing changed: a condition dropped, a value or a column taken
for another, an aggregate turned round, a DISTINCT lost. How often depends on the question, so that
some are easy and some are hard. The same request gets the same replies. Where it is not to err, all
samples are gold.
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.pipeline.names_used import names_used
from modularsql.ports import ChatReply, ChatRequest
from modularsql.records import Cost

_BLOCK = r"\n<data>\n(.*?)\n</data>"
_QUESTION = re.compile(f"Question:{_BLOCK}", re.DOTALL)
_CHOICES = re.compile(f"Query [AB]:{_BLOCK}", re.DOTALL)
_QUERY = re.compile(f"Query:{_BLOCK}", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A question's gold, and the schema it is over; `errs` says whether the model errs on it."""

    gold: str
    catalog: Catalog
    errs: bool = True


class NoisyModel:
    """A `Model`; `known` is what it knows by question."""

    def __init__(self, known: Mapping[str, Known], seed: int = 1) -> None:
        self.name = "scripted"
        self._known = known
        self._seed = seed

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; tokens are characters / 4."""
        text = "\n".join(message.text for message in request.messages)
        asked = _QUESTION.findall(text)
        known = self._known.get(asked[-1]) if asked else None
        chance = random.Random(f"{self._seed}{request.stage}{text}")
        said = _SAY.get(request.stage.partition(".")[0], _draft)
        texts = tuple(
            said(known, text, chance, request.stage) if known else "[]" for _ in range(request.n)
        )
        tokens = sum(map(len, texts)) // 4
        return ChatReply(
            texts=texts,
            cost=Cost(llm_calls=1, prompt_tokens=len(text) // 4, completion_tokens=tokens),
        )


def _draft(known: Known, text: str, chance: random.Random, stage: str) -> str:
    if not known.errs:
        return known.gold
    # How hard a question is for a generator: both have a say.
    hard = (
        random.Random(known.gold).random() * 0.6 + random.Random(known.gold + stage).random() * 0.3
    )
    return known.gold if chance.random() > hard else corrupted(known.gold, known.catalog, chance)


def _chance(text: str) -> float:
    return random.Random(text).random()


def _link(known: Known, text: str, chance: random.Random, stage: str) -> str:
    if stage == "linking.reversed":
        return _draft(known, text, chance, stage)
    places: dict[str, list[str]] = {}
    for table, column in sorted(names_used(known.gold, known.catalog), key=str):
        if not known.errs or chance.random() < 0.9:
            places.setdefault(table, [])
            if column:
                places[table].append(column)
    other = chance.choice([table.name for table in known.catalog])
    more = known.errs and chance.random() < 0.3
    return json.dumps({other: [], **places} if more else places)


def _keywords(known: Known, text: str, chance: random.Random, stage: str) -> str:
    tree = sqlglot.parse_one(known.gold, dialect=known.catalog.dialect)
    return json.dumps([literal.name for literal in tree.find_all(exp.Literal)])


def _revise(known: Known, text: str, chance: random.Random, stage: str) -> str:
    return known.gold if chance.random() < 0.5 else _QUERY.findall(text)[-1]


def _judge(known: Known, text: str, chance: random.Random, stage: str) -> str:
    a, b = _CHOICES.findall(text)[-2:]
    right = "A" if a == known.gold else "B" if b == known.gold else chance.choice("AB")
    return right if chance.random() < 0.8 else "AB".replace(right, "")


def _rescue(known: Known, text: str, chance: random.Random, stage: str) -> str:
    return json.dumps({"choice": None, "reason": "the selected query answers it"})


_SAY: Mapping[str, Callable[[Known, str, random.Random, str], str]] = {
    "values": _keywords,
    "linking": _link,
    "revision": _revise,
    "selection": _judge,
    "rescue": _rescue,
}


def corrupted(sql: str, catalog: Catalog, chance: random.Random) -> str:
    """The query with one thing changed; as it is where nothing can be."""
    tree = sqlglot.parse_one(sql, dialect=catalog.dialect)
    changes = list(_CHANGES)
    chance.shuffle(changes)
    for change in changes:
        if change(tree, catalog, chance):
            return tree.sql(dialect=catalog.dialect)
    return sql


def _drop_condition(tree: exp.Expr, catalog: Catalog, chance: random.Random) -> bool:
    wheres = list(tree.find_all(exp.Where))
    if wheres:
        chance.choice(wheres).pop()
    return bool(wheres)


def _other_value(tree: exp.Expr, catalog: Catalog, chance: random.Random) -> bool:
    literals = list(tree.find_all(exp.Literal))
    if literals:
        one = chance.choice(literals)
        text = one.name.lower() + "x" if one.is_string else str(len(one.name) + 7)
        one.replace(exp.Literal(this=text, is_string=one.is_string))
    return bool(literals)


def _other_aggregate(tree: exp.Expr, catalog: Catalog, chance: random.Random) -> bool:
    for one, other in (
        (exp.Max, exp.Min),
        (exp.Min, exp.Max),
        (exp.Sum, exp.Avg),
        (exp.Avg, exp.Sum),
    ):
        found = tree.find(one)
        if found is not None:
            found.replace(other(this=found.this))
            return True
    return False


_TURNED = ((exp.Max, exp.Min), (exp.Min, exp.Max), (exp.Sum, exp.Avg), (exp.Avg, exp.Sum))


def _other_order(tree: exp.Expr, catalog: Catalog, chance: random.Random) -> bool:
    ordered = tree.find(exp.Ordered)
    if ordered is not None:
        ordered.set("desc", not ordered.args.get("desc"))
    return ordered is not None


def _no_distinct(tree: exp.Expr, catalog: Catalog, chance: random.Random) -> bool:
    select = tree.find(exp.Select)
    had = select is not None and bool(select.args.get("distinct"))
    if had and select is not None:
        select.set("distinct", None)
    return had


def _other_column(tree: exp.Expr, catalog: Catalog, chance: random.Random) -> bool:
    select = tree.find(exp.Select)
    outputs: Sequence[exp.Expr] = select.expressions if select is not None else ()
    columns = [c for output in outputs for c in output.find_all(exp.Column)]
    if not columns:
        return False
    one = chance.choice(columns)
    tables = [t for t in catalog if t.column(one.name) is not None]
    others = [c.name for t in tables for c in t.columns if c.name.casefold() != one.name.casefold()]
    if others:
        one.set("this", exp.to_identifier(chance.choice(others), quoted=True))
    return bool(others)


_CHANGES = (
    _drop_condition,
    _other_value,
    _other_aggregate,
    _other_order,
    _no_distinct,
    _other_column,
)
