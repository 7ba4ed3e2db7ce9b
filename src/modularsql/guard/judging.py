"""Choosing another candidate with a model: the paper's judge, ours, and a new query.

The reply can at worst pick another candidate, which was run under the same limits and probed; a
reply that picks none keeps the query as it is (paper, Algorithm 1).
"""

from collections.abc import Callable
from typing import Any

from modularsql.asking.prompts import as_data, load_prompt
from modularsql.asking.replies import ask, first_integer, json_object
from modularsql.errors import ModelReplyError
from modularsql.guard import shown
from modularsql.guard.candidates import Tried
from modularsql.guard.choosing import Case, Choice, result_of
from modularsql.ports import ChatRequest, Model

_PACKAGE = "modularsql.guard"
_STAGE = "rescue"
_CHOICE_TOKENS, _REASON_TOKENS, _SQL_TOKENS = 64, 300, 1_024
_LONGEST_REASON = 300

CHOICE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["choice", "reason"],
    "properties": {"choice": {"type": ["integer", "null"]}, "reason": {"type": "string"}},
}


def judge(case: Case, model: Model) -> Choice:
    """The paper's judge (appendix C): the pool in its order, T 0, 64 tokens, the first integer
    within range; a declined or unreadable reply keeps the base."""
    entries = ((i, shown.candidate(tried, case.values)) for i, tried in enumerate(case.pool))
    prompt = load_prompt(_PACKAGE, "rescue")
    messages = prompt.messages(
        **shown.words_of(case),
        base=shown.numbered([(0, shown.candidate(case.base, case.values))]).partition("\n")[2],
        candidates=shown.numbered(entries),
        first="0",
        last=str(len(case.pool) - 1),
    )
    request = ChatRequest(messages=messages, stage=_STAGE, max_tokens=_CHOICE_TOKENS)
    text = model.chat(request).texts[0]
    index = first_integer(text, below=len(case.pool))
    if index is not None:
        return Choice(index=index, outcome="chosen")
    declined = "none" in text.casefold()
    return Choice(index=None, outcome="declined" if declined else "no_valid_index")


def grain_judge(case: Case, model: Model) -> Choice:
    """Ours: different candidates only, each with what was measured; a structured reply.

    A pick that would overturn a base without findings needs a second vote, with the candidates in
    the opposite order: what is picked for its place does not pass.
    """
    entries = _different(case)
    if not entries:
        return Choice(index=None, outcome="no_other_candidate")
    choice = _vote(case, model, entries)
    if choice.index is None or case.base.loud(case.allowed) or case.base.rows is None:
        return choice
    second = _vote(case, model, entries[::-1])
    if second.index is not None:
        results = {result_of(case.pool[index]) for index in (choice.index, second.index)}
        if len(results) == 1:  # the same rows, be it by another query
            return choice
    return Choice(index=None, outcome="votes_differ", reason=choice.reason)


def _different(case: Case) -> list[int]:
    """The first of each group of candidates with the same tree, without the base's own."""
    known = {case.base.same()}
    found = []
    for i, tried in enumerate(case.pool):
        if (same := tried.same()) not in known:
            known.add(same)
            found.append(i)
    return found


def _vote(case: Case, model: Model, entries: list[int]) -> Choice:
    readings = "".join(
        f"\nAnother reading of the selected SQL ({name}):\n"
        + _block(shown.candidate(tried, case.values))
        for name, tried in case.readings
    )
    pool = [(place, shown.with_grain(case.pool[i], case.values)) for place, i in enumerate(entries)]
    messages = load_prompt(_PACKAGE, "rescue_grain").messages(
        **shown.words_of(case),
        base=_block(shown.with_grain(case.base, case.values)),
        readings=readings,
        candidates=shown.numbered(pool),
        first="0",
        last=str(len(entries) - 1),
    )
    request = ChatRequest(
        messages=messages, stage=_STAGE, max_tokens=_REASON_TOKENS, schema=CHOICE_SCHEMA
    )
    try:
        place, reason = ask(model, request, _reader(len(entries)))
    except ModelReplyError as error:
        return Choice(index=None, outcome="no_valid_index", reason=error.message)
    if place is None:
        return Choice(index=None, outcome="declined", reason=reason)
    return Choice(index=entries[place], outcome="chosen", reason=reason)


def _block(text: str) -> str:
    return as_data(text, 2 * shown.LONGEST_SQL)


def _reader(below: int) -> Callable[[str], tuple[int | None, str]]:
    def read(text: str) -> tuple[int | None, str]:
        reply = json_object(text)
        choice, reason = reply.get("choice", ""), reply.get("reason")
        said = " ".join(reason.split())[:_LONGEST_REASON] if isinstance(reason, str) else ""
        if choice is None:
            return None, said
        if not isinstance(choice, int) or isinstance(choice, bool) or not 0 <= choice < below:
            raise ModelReplyError(f'"choice" must be from 0 to {below - 1}, or null')
        return choice, said

    return read


def regenerate(case: Case, model: Model) -> str | None:
    """A new query in place of the base; None where the model declines.

    The round that the paper leaves open (section 2.1): no candidates are needed.
    """
    messages = load_prompt(_PACKAGE, "regenerate").messages(
        **shown.words_of(case),
        base=_block(shown.candidate(case.base, case.values)),
        dialect=shown.dialect_of(case.catalog),
    )
    request = ChatRequest(messages=messages, stage="regenerate", max_tokens=_SQL_TOKENS)
    text = model.chat(request).texts[0].strip()
    return None if not text or text.strip(" .`\"'").casefold() == "none" else text


def is_usable(tried: Tried) -> bool:
    """Whether a new query may replace the base: it ran and is not anomalous."""
    return tried.healthy and tried.statement is not None
