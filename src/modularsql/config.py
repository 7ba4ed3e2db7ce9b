"""Every setting of the package in one table, and the only reader of the environment.

A value comes from the flag, else `MODULARSQL_NAME`, else `modularsql.toml` or
`[tool.modularsql]` in `pyproject.toml`, else the default. `docs/settings.md` is made from here.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from modularsql.errors import InputError
from modularsql.records import Limits

PREFIX = "MODULARSQL_"
DATABASES = "databases"
"""The table of a settings file that gives URLs names; no setting, since it holds secrets."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")
REACHES = ("any", "local", "none")
_WEEK = 7 * 86_400.0
_MOST = 2**31 - 1  # SQLite's own upper bound for lengths, and enough of everything else


def _number(default: float, help_: str, at_least: float, at_most: float = _MOST) -> Any:
    return field(default=default, metadata={"help": help_, "range": (at_least, at_most)})


def _text(default: str, help_: str, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": help_, "choices": choices})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings with their defaults; unknown names are an `InputError` in `load`."""

    timeout: float = _number(30.0, "Seconds for a query and all its probes together", 0.001, _WEEK)
    max_rows: int = _number(100_000, "Rows kept of a result; the rest is counted, not kept", 1)
    max_bytes: int = _number(64 * 2**20, "Bytes kept of a result, all cells together", 1)
    score_rows: int = _number(
        2_000_000, "Rows of a result that `eval` compares; a longer one may stay undecided", 1
    )
    score_bytes: int = _number(512 * 2**20, "Bytes of a result that `eval` compares", 1)
    max_cell_bytes: int = _number(16 * 2**20, "Longest text or blob an engine may build", 1024)
    memory_mb: int = _number(128, "Megabytes an engine may use for one query (DuckDB)", 32, 2**20)
    worker_memory_mb: int = _number(
        4096, "Megabytes of address space of a worker process, 0 = no bound (Linux)", 0
    )
    threads: int = _number(2, "Threads an engine may use for one query (DuckDB)", 1, 1024)
    max_parse_chars: int = _number(100_000, "Longest SQL that is parsed; longer is only run", 1)
    today: str = field(
        default="",
        metadata={"help": "Date, or date and time, that `now` means in SQLite", "moment": True},
    )
    policy: str = _text("grain", "What is repaired, and how: a name or a file")
    tau_inject: float = _number(0.80, "Dup ratio from which DISTINCT is added (P1, tau)", 0.001, 1)
    tau_remove: float = _number(0.10, "Dup ratio up to which DISTINCT is removed (P2)", 0, 0.999)
    tau_repeat: float = _number(
        1.5, "Times a listed row must come back on average to be repaired unasked (grain)", 1
    )
    explosion_factor: float = _number(
        10.0, "Rows out against the largest table read, from which a join explodes", 1
    )
    explosion_min_rows: int = _number(1_000, "Fewest rows for which that is looked at", 1)
    probe_seconds: float = _number(
        1.0, "Seconds that probes (measuring, trying repairs) may take together", 0, _WEEK
    )
    probe_times: float = _number(
        0.9, "They may take so many times what the query took, where that is more", 0
    )
    evidence_seconds: float = _number(
        2.0, "Seconds for the evidence of findings, or as long as the query took; 0 = none", 0
    )
    transpile: str = _text(
        "suggest",
        "A query written for another database: off, suggest its translation, or run it",
        ("off", "suggest", "run"),
    )
    fail_on: str = _text(
        "warning",
        "Lowest severity that makes the exit status 1: warning, error or never",
        ("warning", "error", "never"),
    )
    unenforced: str = _text(
        "refuse",
        "Databases that nothing keeps from writing, by SQLAlchemy: refuse or accept",
        ("refuse", "accept"),
    )
    jobs: int = _number(
        0, "Worker processes; 0 = one for each core (predict: questions at once; 0 = 4)", 0, 1024
    )
    cluster: str = _text("", "Dask scheduler for eval, repair and predict, as tcp://HOST:8786")
    model: str = _text("", "Model: a name at base_url, local:FILE, litellm:NAME or replay:FILE")
    base_url: str = _text("https://api.openai.com/v1", "Server that speaks the OpenAI protocol")
    api_key_variable: str = _text(
        "", "Environment variable that holds the key (OpenAI: OPENAI_API_KEY)"
    )
    calls: str = _text(
        "any", "Where models may be called: any, local (this machine) or none", REACHES
    )
    model_timeout: float = _number(60.0, "Seconds for one reply with all its attempts", 0.1, _WEEK)
    model_attempts: int = _number(5, "Times a failing server is asked for one reply", 1, 100)
    model_concurrency: int = _number(16, "Calls of a model at the same time", 1, 1024)
    thinking_tokens: int = _number(
        0, "Tokens that a model may think in, beside those of its reply", 0, 2**20
    )
    budget_usd: float = _number(0.0, "US dollars all calls of a run may cost, 0 = no bound", 0)
    budget_tokens: int = _number(0, "Tokens all calls of a run may take, 0 = no bound", 0, 2**60)
    budget_calls: int = _number(0, "Calls of a model in a run, 0 = no bound", 0)
    prices: str = _text("", "File of token prices that adds to llm/prices.toml")
    reply_cache: str = _text("", "SQLite file that keeps replies, so that none is paid for twice")
    record: str = _text("", "File that replies are written to, for --model replay:FILE")

    samples: int = _number(4, "Queries sampled from each generator (ask)", 1, 64)
    adaptive: str = _text(
        "off", "Stop sampling when the vote is decided (ask): on or off", ("on", "off")
    )
    linking_samples: int = _number(8, "Lists of tables and columns sampled to link (ask)", 1, 64)
    draft_samples: int = _number(1, "Draft queries sampled to link (ask)", 1, 64)
    ask_temperature: float = _number(0.7, "Temperature where several are sampled (ask)", 0, 2)
    keywords: int = _number(8, "Terms of a question that are looked up in the data (ask)", 1, 64)
    values_per_column: int = _number(5, "Values shown of one column (ask)", 1, 100)
    value_similarity: float = _number(0.98, "Likeness from which a value links a column", 0, 1)
    examples: int = _number(3, "Solved questions shown to the generator that learns (ask)", 0, 50)
    example_choice: str = _text(
        "nearest",
        "Which solved questions are shown: nearest, or farthest (a study)",
        ("nearest", "farthest"),
    )
    schema_tokens: int = _number(2_000, "Tokens of the linked schema's text (ask)", 100)
    full_schema_tokens: int = _number(8_000, "Tokens of the whole schema's text (ask)", 100)
    confidence: float = _number(0.6, "Share of agreeing samples that settles the choice", 0, 1)
    top_clusters: int = _number(2, "Results that are judged in pairs where it is open", 2, 10)
    votes: int = _number(3, "Votes of the judge on each pair", 1, 99)
    cluster_by: str = _text(
        "multiset", "When two results agree: multiset, or set (as published)", ("multiset", "set")
    )
    index_dir: str = _text("", "Folder of value indexes  (none given: .cache/modularsql/index)")
    embedder: str = _text(
        "", "Embedder: a name at embedder_url, minilm (this machine) or local:FOLDER (ONNX)"
    )
    embedder_url: str = _text("", "Server of the embedder  (none given: base_url)")
    index_values: int = _number(10_000, "Values indexed of one column, the most frequent", 1)
    profile: str = _text("", "Checkers that are one benchmark's habit: bird", ("", "bird"))
    without: str = _text("", "Parts of ask left out, by commas: linking.reversed,revision.join")
    show_values: str = _text("yes", "Whether models see values of the data", ("yes", "no"))
    telemetry: str = _text(
        "off",
        "OpenTelemetry spans (ask, guard, repair): off, on, or content: the texts too",
        ("off", "on", "content"),
    )
    ask_workers: int = _number(16, "Threads that work on one question", 1, 256)

    def limits(self) -> Limits:
        """The bounds of one guarded query."""
        return Limits(
            seconds=self.timeout,
            max_rows=self.max_rows,
            max_bytes=self.max_bytes,
            probe_seconds=self.probe_seconds,
            probe_times=self.probe_times,
        )

    def scoring_limits(self) -> Limits:
        """The bounds of one query that is scored."""
        return Limits(seconds=self.timeout, max_rows=self.score_rows, max_bytes=self.score_bytes)


SETTINGS: Mapping[str, Field[Any]] = {f.name: f for f in fields(Settings)}


def load(
    flags: Mapping[str, Any] | None = None,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from flags (None = not given), the environment and a TOML file, in that order.

    Raises `InputError` for an unreadable file, an unknown name, or a value that does not fit.
    An empty variable counts as not set.
    """
    environ = os.environ if environ is None else environ
    merged: dict[str, Any] = {}
    file, table = _from_file(config)
    for name, value in table.items():
        if name == DATABASES:
            continue
        merged[name] = _checked(name, value, f"{file}: {name}")
    for variable in sorted(environ):
        if variable.startswith(PREFIX) and environ[variable]:
            name = variable.removeprefix(PREFIX).lower()
            merged[name] = _checked(name, environ[variable], variable)
    for name, value in (flags or {}).items():
        if value is not None:
            merged[name] = _checked(name, value, "--" + name.replace("_", "-"))
    return _together(Settings(**merged))


def _together(settings: Settings) -> Settings:
    """The settings, if they also fit each other."""
    if settings.tau_inject <= settings.tau_remove:
        # In between, DISTINCT would be added to a query and then taken away from it.
        raise InputError(
            f"tau_inject ({settings.tau_inject:g}) must be above "
            f"tau_remove ({settings.tau_remove:g})",
            "raise the one or lower the other",
        )
    return settings


def api_key(variable: str, base_url: str, environ: Mapping[str, str] | None = None) -> str:
    """The key for a model's server, from the environment only; empty where none is set.

    It is never a part of `Settings`. OpenAI's own key goes to OpenAI's own address only, unless
    `variable` (the setting `api_key_variable`) names it.
    """
    environ = os.environ if environ is None else environ
    if not variable and base_url == SETTINGS["base_url"].default:
        variable = "OPENAI_API_KEY"
    if variable and not variable.isidentifier():
        # Perhaps the key itself: it is not repeated.
        raise InputError("api_key_variable is no name of a variable", "name it, without the key")
    return environ.get(variable, "").strip() if variable else ""


def database_url(
    name: str, config: Path | None = None, environ: Mapping[str, str] | None = None
) -> str | None:
    """What a name stands for: `env:VARIABLE`, or an entry of `[databases]` in the settings file.

    `${VARIABLE}` in an entry is replaced, so that the file needs to hold no secret. None for a
    name that is neither. Raises `InputError`, which repeats no value, for one that is not usable.
    """
    environ = os.environ if environ is None else environ
    if name.startswith("env:"):
        if not (url := environ.get(name[4:])):
            raise InputError(f"the variable {name[4:]} is not set", "set it to the database's URL")
        return url
    file, table = _from_file(config)
    entries = table.get(DATABASES, {})
    if not isinstance(entries, Mapping) or name not in entries:
        return None
    if not isinstance(entries[name], str):
        raise InputError(f"{file}: the database {name} is no text", f'write {name} = "URL"')
    missing = [v for v in _VARIABLE.findall(entries[name]) if not environ.get(v)]
    if missing:
        raise InputError(
            f"{file}: the database {name} needs {', '.join(missing)}", "set that variable"
        )
    return _VARIABLE.sub(lambda found: environ[found[1]], entries[name])


def _from_file(config: Path | None) -> tuple[str, Mapping[str, Any]]:
    """The name of the settings file, and what it says; an empty table where there is none."""
    if config is not None:
        return str(config), _read(config)
    for path in (Path("modularsql.toml"), Path("pyproject.toml")):
        if path.is_file():
            return str(path), _read(path)
    return "", {}


def _read(path: Path) -> Mapping[str, Any]:
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:  # not UTF-8 and not TOML are both a ValueError
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read settings from {path}: {reason}") from error
    for part in ("tool", "modularsql") if path.name == "pyproject.toml" else ():
        table = table.get(part, {})
        if not isinstance(table, Mapping):
            raise InputError(f"{path}: {part} is no table", "write [tool.modularsql]")
    return table  # type: ignore[no-any-return]


def _checked(name: str, value: Any, given_as: str) -> Any:
    if name not in SETTINGS:
        near = ", ".join(get_close_matches(name, SETTINGS))
        hint = f"nearest: {near}" if near else "all settings: docs/settings.md"
        raise InputError(f"{given_as} is no setting", hint)
    kind: type[Any] = type(SETTINGS[name].default)
    try:
        converted = _converted(value, kind)
    except (TypeError, ValueError, OverflowError):
        wanted = {int: "a whole number", float: "a number", str: "text"}[kind]
        raise InputError(f"{given_as} must be {wanted}, not {value!r}") from None
    if problem := _problem(name, converted):
        raise InputError(f"{given_as} must be {problem}, not {value!r}")
    return converted


def _converted(value: Any, kind: type[Any]) -> Any:
    if isinstance(value, bool) or (kind is str and not isinstance(value, str)):
        raise TypeError
    converted = kind(value)
    if kind is int and isinstance(value, float) and converted != value:
        raise ValueError  # int() cuts 2.7 down without a word
    return converted


def _problem(name: str, value: Any) -> str | None:
    """What the value of a setting should be where it is not."""
    facts = SETTINGS[name].metadata
    if choices := facts.get("choices"):
        return None if value in choices else f"one of {', '.join(choices)}"
    if facts.get("moment") and value and not _is_moment(value):
        return "a date, or a date and a time, as 2024-05-31 or 2024-05-31 12:00"
    if (bounds := facts.get("range")) is None or bounds[0] <= value <= bounds[1]:
        return None
    return f"from {bounds[0]:,g} to {bounds[1]:,.12g}"


def _is_moment(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
