"""S4, schema linking: three ways to find what the question is about, their union, its closure."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from modularsql.errors import ModelError
from modularsql.pipeline.closure import closed, whole
from modularsql.pipeline.context import asked, cut_short, shots
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.names_used import names_used
from modularsql.pipeline.nearest import Fitted, fitted, uncovered
from modularsql.pipeline.prompting import filled, tokens
from modularsql.pipeline.replies import read_sql, read_tables
from modularsql.pipeline.schema_text import examples_of
from modularsql.pipeline.state import Place, State
from modularsql.ports import Match

Linker = Callable[[State, Deps, str], tuple[set[Place], str]]
"""From the question and the whole schema's text to places, and how it went in words; raises
`ModelError`."""


def link_schema(state: State, deps: Deps) -> State:
    """The linked schema and its text; each element carries the linkers that named it."""
    catalog, settings = deps.catalog, deps.settings
    known = examples_of(state.matches)
    everything = whole(catalog, "the whole schema")
    full = fitted(everything, catalog, known, state, settings.full_schema_tokens)
    said = list(cut_short(state.question, state.hint, deps.definitions))
    said.append(f"whole schema: {_size(full)}")
    if not deps.has("linking"):
        return replace(state, linked=everything, schema=full.text, decisions=tuple(said))
    linkers = [(name, link) for name, link in LINKERS if deps.has(f"linking.{name}")]
    found = deps.each(lambda item: _tried(item[1], state, deps, full.text), linkers)
    reasons: dict[Place, tuple[str, ...]] = {}
    for (name, _), (places, how, _) in zip(linkers, found, strict=True):
        said.append(f"{name}: {len(places)} places{how}")
        for place in sorted(places, key=lambda p: (p[0], p[1] or "")):
            reasons[place] = (*reasons.get(place, ()), name)
    linked = closed(uncovered(reasons, full.bare, catalog), catalog)
    # Where a linker could not be asked, the whole schema may be too long for the model.
    as_before = linked.whole and not any(failed for _, _, failed in found)
    budget = settings.full_schema_tokens if as_before else settings.schema_tokens
    text = fitted(linked, catalog, known, state, budget)
    columns = sum(map(len, linked.columns.values()))
    what = "the whole schema stands in" if linked.whole else "linked"
    said.append(f"{what}: {len(linked.columns)} tables, {columns} columns, {_size(text)}")
    return replace(state, linked=linked, schema=text.text, decisions=tuple(said))


def _size(schema: Fitted) -> str:
    lacks = f", without {schema.lacks}" if schema.lacks else ""
    return f"{tokens(schema.text):,} tokens{lacks}"


def _tried(
    link: Linker, state: State, deps: Deps, schema: str
) -> tuple[set[Place], str, ModelError | None]:
    try:
        return *link(state, deps, schema), None
    except ModelError as error:
        return set(), f" (the model failed: {error.message})", error


def _direct(state: State, deps: Deps, schema: str) -> tuple[set[Place], str]:
    """The model lists what is relevant; the union of all samples."""
    prompt = filled("link", **asked(state, deps, schema))
    replies = deps.sample(prompt, "linking.direct", deps.settings.linking_samples, 512)
    places = {p for reply in replies for p in read_tables(reply, deps.catalog)}
    return places, f" from {len(replies)} samples"


def _reversed(state: State, deps: Deps, schema: str) -> tuple[set[Place], str]:
    """A draft query is written against the whole schema; what it uses is relevant."""
    prompt = filled("icl", examples=shots(state, deps), **asked(state, deps, schema))
    replies = deps.sample(prompt, "linking.reversed", deps.settings.draft_samples)
    drafts = [sql for reply in replies if (sql := read_sql(reply, deps.catalog.dialect))]
    places = {p for sql in drafts for p in names_used(sql, deps.catalog)}
    return places, f" from {len(drafts)} drafts"


def _by_value(state: State, deps: Deps, schema: str) -> tuple[set[Place], str]:
    """Columns that hold something very like a keyword."""
    return linked_by_value(state.matches, deps.settings.value_similarity), ""


def linked_by_value(matches: Sequence[Match], at_least: float) -> set[Place]:
    """Columns with a value whose similarity (0 to 1; 1 after folding) reaches the threshold."""
    return {(m.table, m.column) for m in matches if m.score >= at_least}


LINKERS: tuple[tuple[str, Linker], ...] = (
    ("direct", _direct),
    ("reversed", _reversed),
    ("values", _by_value),
)
"""The paper's three, by the names that `--without linking.NAME` takes."""
