"""The use case `compare`: two systems, or before and after the guard, out of finished runs."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from modularsql.evaluation.comparison import Comparison, answers_of, compare, data_warnings
from modularsql.evaluation.run import Run
from modularsql.evaluation.statistics import Paired
from modularsql.json_values import plain
from modularsql.service.jsonable import SCHEMA_VERSION
from modularsql.service.run_files import VERDICTS, load_run


def compare_runs(a: str, b: str) -> Comparison:
    """`b` against `a`, each a folder of a run, `DIR:SYSTEM` or `DIR:SYSTEM@POLICY`.

    Raises `InputError` for a folder without a run, an unknown system or policy, runs that share
    no question, or where scipy is missing.
    """
    places = [_parts(spec) for spec in (a, b)]
    runs: dict[Path, Run] = {}
    for folder, _, _ in places:
        if folder not in runs:
            runs[folder] = load_run(folder)
    one, other = (
        answers_of(runs[folder], str(folder), system, policy) for folder, system, policy in places
    )
    first, second = (runs[folder] for folder, _, _ in places)
    return compare(one, other, data_warnings(first, second))


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The object that `compare --format json` prints."""
    shown: dict[str, Any] = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "title": found.table.title,
            "metrics": found.table.records(),
            "paired": {name: _figures(one) for name, one in found.paired.items()},
            "clean": None if found.clean is None else found.clean.records(),
            "conclusion": found.conclusion,
            "warnings": list(found.warnings),
            "gained": list(found.gained),
            "lost": list(found.lost),
        }
    )
    return shown


def _figures(one: Paired) -> dict[str, Any]:
    """The figures of one metric; intervals as pairs of fractions."""
    intervals = {"interval": one.interval, "clustered": one.clustered}
    shown = {name: None if i is None else [i.low, i.high] for name, i in intervals.items()}
    return {**asdict(one), **shown}


def _parts(spec: str) -> tuple[Path, str | None, str | None]:
    """Folder, system and policy; a folder whose own name holds a colon exists."""
    if (Path(spec) / VERDICTS).is_file():
        return Path(spec), None, None
    folder, colon, rest = spec.rpartition(":")
    if not colon or not (Path(folder) / VERDICTS).is_file():
        return Path(spec), None, None
    system, _, policy = rest.partition("@")
    return Path(folder), system or None, policy or None
