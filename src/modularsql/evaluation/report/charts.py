"""Charts of a report as Vega-Lite specifications: data in, no drawing here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modularsql.evaluation.run import Run
from modularsql.evaluation.studies import thresholds
from modularsql.evaluation.summary import summary
from modularsql.evaluation.table import Table

Spec = dict[str, Any]
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_PERCENT = {"format": "%"}
_FIT = {"type": "fit-x", "contains": "padding"}
_SYSTEMS = {"field": "system", "type": "nominal", "title": None, "sort": None}
"""Systems in the order of the tables."""
_BELOW = {"orient": "bottom", "columns": 3, "title": None, "labelLimit": 0}
"""A legend that is whole however low its chart is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart with its title; `wide` asks for the whole width."""

    title: str
    spec: Spec
    wide: bool = False


def charts(run: Run, shown: Sequence[Table]) -> list[Chart]:
    """The charts that the run has data for; `shown` are the tables of its report."""
    by_name = {table.name: table for table in shown}

    def rows(name: str) -> list[dict[str, Any]]:
        return by_name[name].records() if name in by_name else []

    found = [_gap(run), _causes(list(run.verdicts), rows("causes"))]
    for field in ("difficulty", "database"):
        for measure in ("Multiset-EX", "gap"):
            if some := rows(f"by_{field}"):
                found.append(_strata(some, field, measure))
    for patch in thresholds.patches(run):
        if swept := rows(f"sweep_{patch.name.lower()}"):
            found.append(_sweep(swept, patch))
    found.append(_agreement(run.metrics, rows("agreement")))
    # Vega gives a chart without a value an axis without an end, and the page with it.
    return [chart for chart in found if chart.spec["data"]["values"]]


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
            if one[metric] is None:
                continue
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
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {**shared, "x": x},
        },
    ]
    spec = _spec(values, layer=layers, height={"step": 14})
    return Chart(title="Set-EX and Multiset-EX, with 95 % intervals", spec=spec)


def _causes(systems: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Chart:
    values = [
        {"system": name, "cause": row["cause"], "answers": row[name], "rank": rank}
        for rank, row in enumerate(rows)
        for name in systems
        if row[name]
    ]
    encoding = {
        "y": _SYSTEMS,
        "x": {"field": "answers", "type": "quantitative", "title": "answers not right"},
        "color": {
            "field": "cause",
            "type": "nominal",
            "sort": [row["cause"] for row in rows],
            "scale": {"scheme": "tableau20"},
            "legend": _BELOW,
        },
        # One order in every bar, so that a cause can be followed from system to system.
        "order": {"field": "rank"},
        "tooltip": [{"field": "system"}, {"field": "cause"}, {"field": "answers"}],
    }
    return Chart(
        title="Why results differ",
        spec=_spec(values, mark="bar", encoding=encoding, height={"step": 22}),
    )


_SHADES: Mapping[str, Mapping[str, Any]] = {
    "Multiset-EX": {"scheme": "blues", "domain": [0, 1]},
    "gap": {"scheme": "oranges", "domainMin": 0},
}


def _strata(rows: Sequence[Mapping[str, Any]], field: str, measure: str) -> Chart:
    """A measure by database or difficulty; a gap of nothing stays without a number."""
    counted = [row for row in rows if row["n"]]
    most = max((row[measure] for row in counted), default=0) or 1
    values = [
        {
            **row,
            "shown": f"{100 * row[measure]:.0f}" if measure != "gap" or row["MBS"] else "",
            "deep": row[measure] > 0.55 * (1 if measure != "gap" else most),
        }
        for row in counted
    ]
    angle = {"labelAngle": -35, "labelLimit": 130} if field == "database" else {"labelAngle": 0}
    shared = {
        "x": {"field": field, "type": "nominal", "title": None, "sort": None, "axis": angle},
        "y": _SYSTEMS,
        "tooltip": [
            *({"field": name} for name in (field, "system", "n")),
            *({"field": name, "format": ".1%"} for name in ("Multiset-EX", "gap")),
            {"field": "MBS"},
        ],
    }
    color = {
        "field": measure,
        "type": "quantitative",
        "title": None,
        "legend": _PERCENT,
        "scale": _SHADES[measure],
    }
    ink = {"condition": {"test": "datum.deep", "value": "#fff"}, "value": "#1c2128"}
    text = {"text": {"field": "shown"}, "color": ink}
    layers = [
        {"mark": "rect", "encoding": {**shared, "color": color}},
        {"mark": {"type": "text", "fontSize": 10}, "encoding": {**shared, **text}},
    ]
    title = "Gap between Set-EX and Multiset-EX" if measure == "gap" else measure
    return Chart(
        title=f"{title} by {field}, per cent",
        spec=_spec(values, layer=layers, height={"step": 20}),
        wide=field == "database",
    )


def _agreement(metrics: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Chart:
    known = [row for row in rows if row["agree"] is not None]
    values = [{"a": name, "b": name, "agree": 1.0} for name in metrics if known]
    values += [
        {"a": a, "b": b, "agree": row["agree"]}
        for row in known
        for a, b in ((row["metric"], row["other"]), (row["other"], row["metric"]))
    ]
    order = {"type": "nominal", "title": None, "sort": list(metrics)}
    encoding = {
        "x": {"field": "a", **order},
        "y": {"field": "b", **order},
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


_PATCHES = {"P1": "P1 (puts DISTINCT in)", "P2": "P2 (takes DISTINCT out)", "grain": "Policy grain"}


def _sweep(rows: Sequence[Mapping[str, Any]], patch: thresholds.Patch) -> Chart:
    values = [
        {"tau": row["tau"], "what": what, "answers": row[what]}
        for row in rows
        for what in ("fixed", "broken", "net")
    ]
    word = "at least" if patch.above else "at most"
    encoding = {
        "x": {
            "field": "tau",
            "type": "quantitative",
            "title": f"{patch.setting}: fires where {patch.of} is {word} this",
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
    in_use = {
        "data": {"values": [{"tau": patch.operating}]},
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#888"},
        "encoding": {
            "x": {"field": "tau", "type": "quantitative"},
            "tooltip": {"value": f"in use: {patch.operating:g}"},
        },
    }
    lines = {"mark": {"type": "line", "point": True}, "encoding": encoding}
    return Chart(
        title=f"{_PATCHES[patch.name]} by threshold; dashed: in use",
        spec=_spec(values, layer=[lines, in_use], height=220),
    )
