"""S3, value retrieval: what in the question may stand in the data, and where it stands there."""

import json
import re
from dataclasses import replace

from modularsql.errors import ModelError
from modularsql.pipeline.context import words
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.prompting import filled
from modularsql.pipeline.state import State

_QUOTED = re.compile(r"'([^']{1,80})'|\"([^\"]{1,80})\"|“([^”]{1,80})”")
_WORD = re.compile(r"[^\W_][\w.\-/:&']*", re.UNICODE)
_ARRAY = re.compile(r"\[.*?\]", re.DOTALL)
# Words of questions that are no values; short on purpose: a value too many costs one look-up.
_STOP = frozenset(
    "a about all also among an and any are as at be been both by can did do does each every find "
    "for from get give had has have her his how i if in is it its list many me more most much my "
    "name names no not of on or our out over please provide return show some state tell than that "
    "the their them there these they this those to total under was we were what when where which "
    "who whose why will with without you your number".split()
)
_LONGEST = 80


def find_values(state: State, deps: Deps) -> State:
    """Keywords of the question, and the values of the database that resemble them."""
    if deps.settings.show_values != "yes":
        return replace(state, decisions=("values stay out of prompts: nothing was looked up",))
    if deps.values is None or not deps.has("values"):
        return replace(
            state,
            decisions=("no value index (modularsql index DB makes one): nothing was looked up",),
        )
    keywords, how = _keywords(state, deps)
    found = deps.values.search(keywords, deps.settings.values_per_column)
    said = f"{len(keywords)} keywords ({how}), {len(found)} values found"
    return replace(state, keywords=keywords, matches=tuple(found), decisions=(said,))


def _keywords(state: State, deps: Deps) -> tuple[tuple[str, ...], str]:
    most = deps.settings.keywords
    simple = keywords_of(f"{state.question} {state.hint}")
    if not deps.has("values.keywords"):
        return simple[:most], "by rule"
    try:
        asked = read_keywords(deps.ask(filled("keywords", **words(state)), "values", 256))
    except ModelError as error:
        return simple[:most], f"by rule, the model failed: {error.message}"
    if not asked:
        return simple[:most], "by rule, the model named none"
    # What stands in quotation marks is meant literally, whatever the model makes of it.
    marked = quoted_parts(state.question)
    return tuple(dict.fromkeys((*marked, *asked)))[:most], "by the model"


def quoted_parts(text: str) -> tuple[str, ...]:
    """What stands in quotation marks."""
    return tuple(next(filter(None, found)) for found in _QUOTED.findall(text))


def keywords_of(text: str) -> tuple[str, ...]:
    """Terms that may be values: what is quoted, runs of capitalised words, then other words."""
    words = _WORD.findall(text)
    runs: list[str] = []
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and (words[end][0].isupper() or words[end][0].isdigit()):
            end += 1
        if end > at:
            runs.append(" ".join(words[at:end]))
        at = max(end, at + 1)
    rest = [w for w in words if w.casefold() not in _STOP and len(w) > 1]
    found = dict.fromkeys((*quoted_parts(text), *runs, *rest))
    return tuple(w for w in found if w.casefold() not in _STOP and len(w) <= _LONGEST)


def read_keywords(reply: str) -> tuple[str, ...]:
    """The terms of a reply: a JSON list of strings wherever it stands; () where there is none."""
    for found in _ARRAY.findall(reply):
        try:
            values = json.loads(found)
        except ValueError:
            continue
        words = [str(v).strip() for v in values if isinstance(v, str | int | float)]
        return tuple(dict.fromkeys(w for w in words if 0 < len(w) <= _LONGEST))
    return ()
