"""What prompts of the pipeline share: values quoted one by one, and tokens counted."""

import json

from modularsql.asking.prompts import clipped, load_prompt
from modularsql.ports import Message

CHARACTERS_PER_TOKEN = 4
"""How tokens are estimated: no tokenizer is loaded for it."""


def filled(name: str, **fields: str) -> tuple[Message, ...]:
    """The messages of the prompt `prompts/NAME.md` of this room."""
    return load_prompt("modularsql.pipeline", name).messages(**fields)


def quoted(value: str, most: int = 100) -> str:
    """Untrusted text as one JSON string."""
    return json.dumps(clipped(value, most), ensure_ascii=False)


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
