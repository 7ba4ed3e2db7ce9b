"""The use case `guard`: one query on one database, in a process that can be killed."""

import json
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from modularsql.config import Settings
from modularsql.declared.read import read_keys
from modularsql.engines.connect import kind_of, locate
from modularsql.engines.isolated import IsolatedEngine
from modularsql.engines.several import SeveralEngines
from modularsql.errors import InputError, ModularSqlError, SetupError
from modularsql.evaluation.pools import read_candidates
from modularsql.guard.candidates import AT_ONCE
from modularsql.guard.policy_file import choose_policy
from modularsql.guard.run import Guard
from modularsql.guard.verdict import loudest, reaches, remaining
from modularsql.llm.connect import connect_model
from modularsql.ports import Cautious, Engine
from modularsql.records import Answer, FailureKind, Params, Severity, Verdict
from modularsql.service.keyed import KeyedEngine
from modularsql.service.ruling import check_names
from modularsql.service.telemetry import traced_engine, traced_model, whole

_LONGEST_SQL = 10_000_000
"""Bytes read of a file or standard input; databases take less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRequest:
    """What `guard` needs; `params` are `NAME=VALUE` texts, `sql` is text, `-` or `@file`."""

    target: str
    sql: str
    settings: Settings
    question: str | None = None
    params: Sequence[str] = ()
    fix: bool = False
    allow: Sequence[str] = ()
    execute: bool = True
    keys: Path | None = None
    candidates: Path | None = None


def guard(request: GuardRequest) -> Answer:
    """Guard one query. Raises `InputError` or `SetupError` when it could not start."""
    choose_policy(request.settings.policy, request.settings)
    check_names(request.allow)
    params = read_params(request.params)
    sql = read_sql(request.sql)
    shown = locate(request.target).shown
    keys = None if request.keys is None else read_keys(request.keys, Path(shown).stem)
    candidates = () if request.candidates is None else read_candidates(request.candidates)
    model = connect_model(request.settings)
    if model is not None:
        model = traced_model(model, request.settings)
    engine = traced_engine(_engine(request, several=bool(candidates)), request.settings)
    with (
        whole("guard", request.settings),
        Guard(engine, settings=request.settings, model=model) as door,
    ):
        problems = engine.warnings() if isinstance(engine, Cautious) else ()
        if keys is not None:
            door.engine = keyed = KeyedEngine(engine, keys, request.settings.limits())
            problems += keyed.problems
        answer = door.run(
            sql,
            question=request.question,
            candidates=candidates,
            params=params,
            fix=request.fix,
            allow=request.allow,
            execute=request.execute,
        )
    answer = replace(answer, notes=(*answer.notes, *problems))
    if answer.failure is not None and answer.failure.kind == FailureKind.LOCKED:
        raise SetupError(
            f"{shown} is locked by another program",
            "try again later, or give more time with --timeout",
            "locked",
        )
    return answer


def _engine(request: GuardRequest, several: bool) -> Engine:
    """The database in a process of its own; in a few where candidates are to be tried."""

    def open_() -> Engine:
        return IsolatedEngine(request.target, request.settings)

    return SeveralEngines(open_, AT_ONCE) if several else open_()


def exit_status(answer: Answer, fail_on: str) -> int:
    """0 or 1, as the table in docs/interfaces.md says."""
    if answer.verdict == Verdict.REFUSE:
        return 1
    if answer.failure is not None and answer.failure.kind != FailureKind.UNBOUND:
        return 1
    if fail_on == "never":
        return 0
    left = loudest(remaining(answer.findings, answer.applied))
    return int(reaches(left, Severity(fail_on)))


def read_sql(argument: str) -> str:
    """The SQL an argument stands for: itself, standard input for `-`, a file for `@file`."""
    if argument == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed", "give the SQL itself or @FILE")
        return _decoded(sys.stdin.buffer.read(_LONGEST_SQL + 1), "standard input")
    if not argument.startswith("@"):
        if os.path.isfile(argument):  # noqa: PTH113 (Path raises for what is no name of a file)
            raise _names_a_file(argument)
        return _decoded(argument.encode("utf-8", "surrogateescape"), "the SQL")
    path = Path(argument[1:])
    try:
        with path.open("rb") as file:
            raw = file.read(_LONGEST_SQL + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read the SQL from {path}: {reason}", "check the path") from error
    return _decoded(raw, str(path))


def _names_a_file(argument: str) -> InputError:
    try:
        kind_of(Path(argument))
    except ModularSqlError:
        return InputError(f"{argument} is a file, not SQL", f"write @{argument} for what it holds")
    return InputError(
        f"{argument} is a database, not SQL", "the database comes first: modularsql guard DB SQL"
    )


def read_params(pairs: Sequence[str]) -> Params:
    """Values for bound parameters. Whole numbers as names are positions, counted from 1.

    A value is read as JSON (`5`, `2.5`, `true`, `null`, `"5"`), else taken as the text it is.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.lstrip(":@$")
        if not equals or not name:
            raise InputError(f"--param {pair!r} is not NAME=VALUE", "write --param id=5")
        if name in values:
            raise InputError(f"--param gives {name} twice", "give each parameter one value")
        values[name] = _value(value)
    positions = [name for name in values if name.isascii() and name.isdigit()]
    if not positions:
        return values or None
    wanted = [str(i) for i in range(1, len(values) + 1)]
    if sorted(positions, key=int) != wanted:
        raise InputError(
            f"--param positions are {', '.join(sorted(values))}",
            f"number them 1 to {len(values)}, and mix no names in",
        )
    return [values[name] for name in wanted]


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    # NaN and Infinity are no JSON, and 1e999 is no number a database has: they stay text.
    fits = value is None or isinstance(value, str | bool | int) or _is_finite(value)
    return value if fits else text


def _is_finite(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _decoded(raw: bytes, origin: str) -> str:
    if len(raw) > _LONGEST_SQL:
        raise InputError(f"{origin} holds more than {_LONGEST_SQL:,} bytes", "give one query")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{origin} is not UTF-8 text (byte {error.start})", "convert it, for example with iconv"
        ) from error
