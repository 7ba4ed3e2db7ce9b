"""From settings to a model with its wrappers. To add a kind: its module and a line in `_KINDS`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from modularsql.config import SETTINGS, Settings, api_key
from modularsql.errors import InputError, SetupError
from modularsql.llm.budget import Bounds, Budget
from modularsql.llm.prices import FREE, Price, Priced, find_price, read_prices
from modularsql.llm.reach import is_here
from modularsql.llm.sampling import Sampled
from modularsql.llm.thinking import Thinking
from modularsql.llm.wrappers import Breaker, Limited
from modularsql.ports import Model

if TYPE_CHECKING:
    from modularsql.llm.openai_compatible import Server


def connect_model(settings: Settings) -> Model | None:
    """The model that the settings name, with budget, prices, limits; None where they name none.

    From outside in: thoughts taken out, what was said before, what may be spent, what it costs,
    how many samples a call gives, how many calls at once.
    Nothing is sent yet. Raises `InputError` and `SetupError` for what can be known beforehand.
    """
    if not settings.model:
        return None
    kind, _, rest = settings.model.partition(":")
    price = _price(rest if kind in _KINDS else settings.model, settings)
    opened = _KINDS[kind](rest, settings) if kind in _KINDS else _server(settings)
    bounds = Bounds(
        calls=settings.budget_calls, tokens=settings.budget_tokens, usd=settings.budget_usd
    )
    limited = Limited(Breaker(opened), settings.model_concurrency)
    model: Model = Budget(Priced(Sampled(limited), price), bounds, price)
    if settings.record:
        from modularsql.llm.replay import Recorder

        model = Recorder(model, Path(settings.record))
    if settings.reply_cache:
        from modularsql.llm.cache import Cache

        model = Cache(model, Path(settings.reply_cache))
    # Outermost, so that a thought's room counts in the budget and its text is recorded.
    return Thinking(model, settings.thinking_tokens)


def _price(name: str, settings: Settings) -> Price:
    """What the user's table or ours says; nothing for what runs on this machine."""
    found = find_price(name, read_prices(Path(settings.prices) if settings.prices else None))
    here = settings.model.startswith(("local:", "replay:")) or is_here(settings.base_url)
    if found is None and not here and settings.budget_usd:
        raise SetupError(
            f"no price is known for {name}, so no budget in dollars can be kept",
            "add it to a file and name that in the setting prices",
            "price",
        )
    return found or FREE


def _server(settings: Settings) -> Model:
    from modularsql.llm.openai_compatible import OpenAICompatible

    return OpenAICompatible(settings.model, server_of(settings.model, settings))


def server_of(name: str, settings: Settings) -> "Server":
    """The server at `base_url`, to ask for a model. Raises `SetupError` where it needs a key."""
    from modularsql.llm.openai_compatible import Server

    key = api_key(settings.api_key_variable, settings.base_url)
    if not key and settings.base_url == SETTINGS["base_url"].default:
        raise SetupError(
            f"asking {name} needs a key for {settings.base_url}",
            "set OPENAI_API_KEY, or base_url for another server",
            "model_key",
        )
    return Server(
        url=settings.base_url,
        key=key,
        seconds=settings.model_timeout,
        attempts=settings.model_attempts,
        concurrency=settings.model_concurrency,
        calls=settings.calls,
    )


def _replay(path: str, settings: Settings) -> Model:
    from modularsql.llm.replay import Player

    if not path:
        raise InputError("replay: names no file", "write replay:FILE.jsonl")
    return Player(Path(path))


def _local(path: str, settings: Settings) -> Model:
    from modularsql.llm.local import LocalModel

    return LocalModel(Path(path), settings.threads)


def _litellm(name: str, settings: Settings) -> Model:
    from modularsql.llm.by_litellm import LiteLLM

    is_default = settings.base_url == SETTINGS["base_url"].default
    return LiteLLM(name, None if is_default else settings.base_url, settings)


_KINDS: dict[str, Callable[[str, Settings], Model]] = {
    "local": _local,
    "litellm": _litellm,
    "replay": _replay,
}
