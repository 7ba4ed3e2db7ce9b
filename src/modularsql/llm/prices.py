"""What tokens cost: a table that anyone can edit (`prices.toml`), and a wrapper that uses it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from modularsql.errors import InputError
from modularsql.ports import ChatReply, ChatRequest, Model
from modularsql.records import Cost

_FIELDS = {"input", "cached_input", "output"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens: of the prompt, of its cached part, of the reply."""

    input: float
    cached_input: float
    output: float

    def usd(self, cost: Cost) -> float:
        """What these tokens cost."""
        cached = min(cost.cached_tokens, cost.prompt_tokens)
        fresh = cost.prompt_tokens - cached
        total = fresh * self.input + cached * self.cached_input
        return (total + cost.completion_tokens * self.output) / 1e6


FREE = Price(input=0.0, cached_input=0.0, output=0.0)
"""The price of a model on this machine."""


def read_prices(path: Path | None = None) -> Mapping[str, Price]:
    """The package's table with the entries of a user's file on top, by model name.

    Raises `InputError` for a file that cannot be read or holds something else.
    """
    ours = files("modularsql.llm").joinpath("prices.toml").read_text(encoding="utf-8")
    table = _prices(ours, "prices.toml")
    if path is None:
        return table
    try:
        return {**table, **_prices(path.read_text(encoding="utf-8-sig"), str(path))}
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read prices from {path}: {reason}", "check the path") from error


def find_price(name: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model by its name, without a provider before it or a date behind it."""
    bare = name.rsplit("/", 1)[-1]
    for known in (name, bare, re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", bare)):
        if known in prices:
            return prices[known]
    return None


class Priced:
    """A model whose replies say what they cost in money."""

    def __init__(self, model: Model, price: Price) -> None:
        self._model = model
        self._price = price
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`."""
        reply = self._model.chat(request)
        return replace(reply, cost=replace(reply.cost, usd=self._price.usd(reply.cost)))


def _prices(text: str, origin: str) -> dict[str, Price]:
    try:
        models: Any = tomllib.loads(text)["models"]
        return {name: _price(entry) for name, entry in models.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        form = '[models."NAME"] with input, cached_input and output in dollars'
        raise InputError(f"{origin} is no price table: {error}", f"write {form}") from error


def _price(entry: Mapping[str, Any]) -> Price:
    if not set(entry) <= _FIELDS:
        raise ValueError(f"unknown {', '.join(sorted(set(entry) - _FIELDS))}")
    paid = float(entry["input"]), float(entry["output"])
    cached = float(entry.get("cached_input", entry["input"]))
    if not all(0 <= value < 1e6 for value in (*paid, cached)):
        raise ValueError("a price is below 0 or beyond a million")
    return Price(input=paid[0], cached_input=cached, output=paid[1])
