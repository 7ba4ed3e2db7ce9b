"""A trace as one page for people: where an answer came from, at a glance, and all of it beneath.

Question, values, SQL and replies are strangers' text. The page is built as a tree, so that all of
it is escaped, and holds no script; its policy forbids it to load anything.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from modularsql.pipeline.waiting import longest
from modularsql.wording import counted

Json = Mapping[str, Any]
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STAGES = ("values", "linking", "generation", "revision", "selection", "guard")


def page(trace: Json) -> str:
    """The HTML text of a trace, given as the JSON document that `ask --trace` writes."""
    stages = {stage["stage"]: stage for stage in trace["stages"]}
    html = Element("html", lang="en")
    head = SubElement(html, "head")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY})
    SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    _add(head, "title", f"Trace: {trace['question'][:80]}")
    css = files("modularsql.pipeline").joinpath("trace_page.css").read_text("utf-8")
    _add(head, "style", css)
    body = SubElement(html, "body")
    _heading(body, trace, stages)
    _flow(body, stages)
    _answer(body, stages)
    _clusters(body, stages)
    _candidates(body, stages)
    for stage in trace["stages"]:
        _stage(body, stage)
    return "<!doctype html>\n" + tostring(html, encoding="unicode", method="html") + "\n"


def _add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    named = {name.removesuffix("_"): value for name, value in attributes.items()}
    made = SubElement(parent, tag, named)
    made.text = text
    return made


def _heading(body: Element, trace: Json, stages: Mapping[str, Json]) -> None:
    _add(body, "h1", trace["question"])
    if trace["hint"]:
        _add(body, "p", f"Hint: {trace['hint']}", class_="soft")
    cost = trace["cost"]
    seconds = sum(stage["ms"] for stage in trace["stages"]) / 1000
    guard = stages.get("guard", {}).get("output", {})
    confidence = stages.get("selection", {}).get("output", {}).get("confidence")
    parts = [
        f"verdict {guard['verdict']}" if guard.get("verdict") else "no answer",
        f"confidence {confidence:.0%}" if confidence is not None else "",
        f"{counted(cost['llm_calls'], 'call')}, {_in_a_row(trace)} in a row",
        f"{cost['prompt_tokens']:,} tokens in, {cost['completion_tokens']:,} out",
        f"${cost['usd']:.4f}",
        f"{seconds:.1f} s",
    ]
    _add(body, "p", " · ".join(filter(None, parts)), class_="soft")


def _in_a_row(trace: Json) -> int:
    """How many calls waited for each other, one after the other."""
    after = [call["after"] for stage in trace["stages"] for call in stage["calls"]]
    return int(longest(after, lambda call: 1))


def _flow(body: Element, stages: Mapping[str, Json]) -> None:
    flow = _add(body, "ol", class_="flow")
    for name in _STAGES:
        stage = stages.get(name)
        item = SubElement(flow, "li", {} if stage else {"class": "off"})
        link = _add(item, "a", href=f"#{name}")
        _add(link, "b", name)
        if stage is None:
            _add(item, "span", "not reached", class_="soft")
            continue
        _add(item, "span", _GIST[name](stage["output"]))
        calls = counted(len(stage["calls"]), "call")
        _add(item, "span", f"{stage['ms'] / 1000:.1f} s, {calls}", class_="soft")


def _linked(output: Json) -> str:
    columns = sum(len(names) for names in output["tables"].values())
    return f"{counted(len(output['tables']), 'table')}, {counted(columns, 'column')}"


def _drafted(output: Json) -> str:
    if output["unanswerable"]:
        return "no query"
    samples = sum(one["votes"] for one in output["candidates"])
    drafts = counted(len(output["candidates"]), "candidate")
    return f"{counted(samples, 'sample')}, {drafts}"


def _revised(output: Json) -> str:
    changes = [change for one in output["candidates"] for change in one["changes"]]
    return f"{len(changes)} asked for, {sum(c['kept'] for c in changes)} kept"


def _selected(output: Json) -> str:
    if not output["clusters"]:
        return "no result"
    judged = any(one["win_rate"] is not None for one in output["clusters"])
    how = "judged" if judged else f"{output['confidence'] or 0:.0%} agree"
    return f"{len(output['clusters'])} results, {how}"


_GIST: Mapping[str, Callable[[Json], str]] = {
    "values": lambda o: f"{len(o['keywords'])} keywords, {len(o['matches'])} values",
    "linking": _linked,
    "generation": _drafted,
    "revision": _revised,
    "selection": _selected,
    "guard": lambda o: f"repaired: {', '.join(o['applied'])}" if o["applied"] else "unchanged",
}


def _answer(body: Element, stages: Mapping[str, Json]) -> None:
    """The chosen candidate's way in sentences, and the SQL at its end."""
    answered = _chosen(stages) is not None
    _add(body, "h2", "Where the answer came from" if answered else "Why there is no answer")
    path = SubElement(_add(body, "div", class_="path"), "ol")
    for sentence in _way(stages):
        _add(path, "li", sentence)
    final = stages.get("guard", {}).get("output", {}).get("final_sql")
    if final:
        _add(body, "pre", final)


def _way(stages: Mapping[str, Json]) -> Iterator[str]:
    last = next((stages[name] for name in reversed(_STAGES) if name in stages), None)
    chosen = _chosen(stages)
    if chosen is None:
        yield from last["decisions"] if last else ()
        why = stages.get("generation", {}).get("output", {}).get("unanswerable")
        if why:
            yield f"No query was run: {why}"
        return
    number, candidate = chosen
    names = ", ".join(candidate["generators"])
    yield f"Candidate {number + 1}: written {counted(candidate['votes'], 'time')}, by {names}."
    for change in candidate["changes"]:
        if change["kept"]:
            yield f"Changed for {change['checker']}: {change['directive']}"
    yield from (f"Selection: {said}." for said in stages["selection"]["decisions"])
    yield from (f"Guard: {said}." for said in stages.get("guard", {}).get("decisions", ()))
    for finding in stages.get("guard", {}).get("output", {}).get("findings", ()):
        yield f"{finding['rule']} ({finding['severity']}): {finding['message']}"


def _chosen(stages: Mapping[str, Json]) -> tuple[int, Json] | None:
    number = stages.get("selection", {}).get("output", {}).get("chosen")
    return None if number is None else (number, stages["revision"]["output"]["candidates"][number])


def _clusters(body: Element, stages: Mapping[str, Json]) -> None:
    output = stages.get("selection", {}).get("output", {})
    if not output.get("clusters"):
        return
    _add(body, "h2", "Results, and how many samples came to each")
    bars = _add(body, "div", class_="bars")
    for at, one in enumerate(output["clusters"]):
        mine = output["chosen"] in one["members"]
        members = ", ".join(str(member + 1) for member in one["members"])
        named = f"{'✓ ' if mine else ''}result {at + 1}: candidates {members}"
        _add(bars, "span", named, **({"class_": "chosen good"} if mine else {}))
        share = one["confidence"]
        _add(SubElement(bars, "div"), "i", style=f"width: {100 * share:.1f}%")
        won = "" if one["win_rate"] is None else f", win rate {one['win_rate']:.2f}"
        _add(bars, "span", f"{share:.0%}{won}, score {one['score']:.2f}", class_="soft")


def _candidates(body: Element, stages: Mapping[str, Json]) -> None:
    stage = stages.get("revision") or stages.get("generation")
    found: Sequence[Json] = stage["output"]["candidates"] if stage else ()
    if not found:
        return
    _add(body, "h2", "Candidates")
    selection = stages.get("selection", {}).get("output", {})
    findings = selection.get("findings") or [None] * len(found)
    for at, one in enumerate(found):
        mine = at == selection.get("chosen")
        box = SubElement(body, "section", {"class": "chosen"} if mine else {})
        told = [
            f"{'✓ ' if mine else ''}{at + 1}",
            counted(one["votes"], "vote"),
            ", ".join(one["generators"]),
            "" if one["rows"] is None else counted(one["rows"], "row"),
            counted(findings[at], "finding") if findings[at] and not one["error"] else "",
        ]
        _add(box, "p", " · ".join(filter(None, told)), **({"class_": "good"} if mine else {}))
        if one["error"]:
            _add(box, "p", one["error"], class_="bad")
        _add(box, "pre", one["sql"])
        for change in one["changes"]:
            _change(box, change)


def _change(box: Element, change: Json) -> None:
    said = "changed" if change["kept"] else f"kept as it was: {change['why']}"
    details = SubElement(box, "details")
    _add(details, "summary", f"{change['checker']}: {change['directive']} ({said})")
    for when, sql in (("before", change["before"]), ("after", change["sql"] or "no query")):
        _add(details, "p", when, class_="soft")
        _add(details, "pre", sql)


def _stage(body: Element, stage: Json) -> None:
    _add(body, "h2", stage["stage"], id=stage["stage"])
    for said in stage["decisions"]:
        _add(body, "p", said)
    output = stage["output"]
    if output.get("matches"):
        names = ("keyword", "table", "column", "value", "how", "score")
        _table(body, names, [[str(m[name]) for name in names] for m in output["matches"]])
    if output.get("reasons"):
        folded = SubElement(body, "details")
        _add(folded, "summary", "what is linked, and why")
        _table(
            folded, ("element", "why"), [[k, ", ".join(v)] for k, v in output["reasons"].items()]
        )
        _add(folded, "pre", output["schema"])
    for call in stage["calls"]:
        _call(body, call)


def _table(parent: Element, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = SubElement(parent, "table")
    first = SubElement(table, "tr")
    for name in names:
        _add(first, "th", name)
    for row in rows:
        line = SubElement(table, "tr")
        for cell in row:
            _add(line, "td", cell)


def _call(body: Element, call: Json) -> None:
    cost = call["cost"]
    folded = SubElement(body, "details")
    told = (
        f"{call['stage']}: {cost['prompt_tokens']:,} tokens in, {cost['completion_tokens']:,} out",
        f"{len(call['replies'])} replies",
        f"{call['ms'] / 1000:.1f} s from second {call['start_ms'] / 1000:.1f} on",
    )
    _add(folded, "summary", ", ".join(told))
    if call["error"]:
        _add(folded, "p", call["error"], class_="bad")
    for text in call["messages"]:
        _add(folded, "p", "sent", class_="soft")
        _add(folded, "pre", text)
    for text in call["replies"]:
        _add(folded, "p", "replied", class_="soft")
        _add(folded, "pre", text)
