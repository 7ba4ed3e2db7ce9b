"""Charts of a report as Vega-Lite specifications: data in, no drawing here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modularsql.evaluation.report import tables
from modularsql.evaluation.run import Run
from modularsql.evaluation.studies import thresholds
from modularsql.evaluation.summary import summary

Spec = dict[str, Any]
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_PERCENT = {"format": "%"}
_FIT = {"type": "fit-x", "contains": "padding"}
_SYSTEMS = {"field": "system", "type": "nominal", "title": None, "sort": None}
"""Systems in the order of the tables."""
_BELOW = {"orient": "bottom", "columns": 4, "title": None, "labelLimit": 0}
"""A legend that is whole however low its chart is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart with its title; `wide` asks for the whole width."""

    title: str
    spec: Spec
    wide: bool = False


def charts(run: Run) -> list[Chart]:
    """The charts that the run has data for."""
    systems = run.counted_by_system()
    found = [_gap(run), _causes(run)]
    if rows := tables.by_difficulty(systems).records():
        found.append(_strata(rows, "difficulty", "Multiset-EX by difficulty"))
    if rows := tables.by_database(systems).records():
        found.append(_strata(rows, "database", "Multiset-EX by database", wide=True))
    verdicts = [verdict for some in systems.values() for verdict in some]
    found += [_sweep(thresholds.sweep(verdicts, p).records(), p) for p in thresholds.patches(run)]
    return [*found, _agreement(run)]


def _spec(values: Sequence[Mapping[str, Any]], **more: Any) -> Spec:
    return {
        "$schema": _SCHEMA,
        "data": {"values": list(values)},
        "width": "container",
        "autosize": _FIT,
        **more,
    }


def _gap(run: Run) -> Chart:
    values = []
    for name, one in summary(run)["systems"].items():
        for metric, title in (("set_ex", "Set-EX"), ("multiset_ex", "Multiset-EX")):
            low, high = one["intervals"].get(metric) or (None, None)
            values.append(
                {"system": name, "metric": title, "score": one[metric], "low": low, "high": high}
            )
    order = ["Set-EX", "Multiset-EX"]
    offset = {"field": "metric", "sort": order}
    color = {"field": "metric", "type": "nominal", "sort": order, "legend": _BELOW}
    scale, axis = {"zero": False}, {**_PERCENT, "tickCount": 6}
    x = {"field": "score", "type": "quantitative", "axis": axis, "scale": scale, "title": None}
    tooltip = [
        {"field": "system"},
        {"field": "metric"},
        {"field": "score", "format": ".2%"},
        {"field": "low", "format": ".2%"},
        {"field": "high", "format": ".2%"},
    ]
    shared = {"y": _SYSTEMS, "yOffset": offset, "color": color, "tooltip": tooltip}
    layers = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6},
            "encoding": {**shared, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
        },
        {"mark": {"type": "point", "filled": True, "size": 70}, "encoding": {**shared, "x": x}},
    ]
    spec = _spec(values, layer=layers, height={"step": 14})
    return Chart(title="Set-EX and Multiset-EX, with 95 % intervals", spec=spec)


def _causes(run: Run) -> Chart:
    values = [
        {"system": name, "cause": row["cause"], "answers": row[name]}
        for row in tables.causes(run.counted_by_system()).records()
        for name in run.verdicts
        if row[name]
    ]
    encoding = {
        "y": _SYSTEMS,
        "x": {"field": "answers", "type": "quantitative", "title": "answers not right"},
        "color": {
            "field": "cause",
            "type": "nominal",
            "scale": {"scheme": "tableau20"},
            "legend": _BELOW,
        },
        "order": {"field": "answers", "sort": "descending"},
        "tooltip": [{"field": "system"}, {"field": "cause"}, {"field": "answers"}],
    }
    return Chart(
        title="Why results differ",
        spec=_spec(values, mark="bar", encoding=encoding, height={"step": 22}),
    )


def _strata(rows: Sequence[Mapping[str, Any]], field: str, title: str, wide: bool = False) -> Chart:
    values = [{**row, "score": row["Multiset-EX"]} for row in rows if row["n"]]
    encoding = {
        "x": {
            "field": field,
            "type": "nominal",
            "title": None,
            "sort": None,
            "axis": {"labelAngle": -35, "labelLimit": 130},
        },
        "y": _SYSTEMS,
        "color": {
            "field": "score",
            "type": "quantitative",
            "title": None,
            "legend": _PERCENT,
            "scale": {"scheme": "blues", "domain": [0, 1]},
        },
        "tooltip": [
            {"field": field},
            {"field": "system"},
            {"field": "n"},
            {"field": "score", "format": ".1%", "title": "Multiset-EX"},
            {"field": "gap", "format": ".1%"},
        ],
    }
    spec = _spec(values, mark="rect", encoding=encoding, height={"step": 20})
    return Chart(title=title, spec=spec, wide=wide)


def _agreement(run: Run) -> Chart:
    rows = tables.agreement(run).records()
    values = [
        {"a": a, "b": b, "agree": row["agree"]}
        for row in rows
        for a, b in ((row["metric"], row["other"]), (row["other"], row["metric"]))
        if row["agree"] is not None
    ]
    encoding = {
        "x": {"field": "a", "type": "nominal", "title": None, "sort": None},
        "y": {"field": "b", "type": "nominal", "title": None, "sort": None},
        "color": {
            "field": "agree",
            "type": "quantitative",
            "title": None,
            "legend": _PERCENT,
            "scale": {"scheme": "greens"},
        },
        "tooltip": [{"field": "a"}, {"field": "b"}, {"field": "agree", "format": ".2%"}],
    }
    return Chart(
        title="Agreement between metrics on what is fully right",
        spec=_spec(values, mark="rect", encoding=encoding, height={"step": 18}),
    )


def _sweep(rows: Sequence[Mapping[str, Any]], patch: thresholds.Patch) -> Chart:
    values = [
        {"tau": row["tau"], "what": what, "answers": row[what]}
        for row in rows
        for what in ("fixed", "broken", "net")
    ]
    encoding = {
        "x": {
            "field": "tau",
            "type": "quantitative",
            "title": patch.setting,
            # A number of copies has no end; a ratio goes from 0 to 1.
            "scale": {"type": "log" if max(patch.grid) > 1 else "linear"},
        },
        "y": {"field": "answers", "type": "quantitative"},
        "color": {
            "field": "what",
            "type": "nominal",
            "title": None,
            "scale": {
                "domain": ["fixed", "broken", "net"],
                "range": ["#3a923a", "#c44e52", "#4c72b0"],
            },
        },
        "tooltip": [{"field": "tau"}, {"field": "what"}, {"field": "answers"}],
    }
    spec = _spec(values, mark={"type": "line", "point": True}, encoding=encoding, height=220)
    return Chart(title=f"{patch.name}: fixed and broken by threshold", spec=spec)
