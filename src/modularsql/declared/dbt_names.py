"""Names in a dbt manifest: which table a node is, and which column or node a text means."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from modularsql.declared.facts import Said

_QUOTE_CALL = re.compile(r"""\{\{\s*adapter\.quote\(\s*['"](.+?)['"]\s*\)\s*\}\}""")
_PLAIN = re.compile(r"[^\W\d][\w$]*")
_QUOTED = re.compile(r'"([^"]+)"|`([^`]+)`|\[([^\]]+)\]')
_CALL = re.compile(r"\b(ref|source)\s*\(([^)]*)\)")
_TEXT = re.compile(r"""(?<!=)(?<!=\s)['"]([^'"]*)['"]""")


def said_of(node: Mapping[str, Any]) -> Said:
    """The table of a model, seed, snapshot or source in words, no key said of it yet."""
    name = node.get("identifier") or node.get("alias") or node.get("name") or ""
    columns = node.get("columns")
    said = {
        str(column.get("name") or name): str(column.get("description") or "")
        for name, column in (columns.items() if isinstance(columns, dict) else ())
        if isinstance(column, dict)
    }
    return Said(
        name=str(name),
        schema=str(node.get("schema") or ""),
        description=str(node.get("description") or ""),
        words={name: words for name, words in said.items() if words},
    )


def is_table(node: Any) -> bool:
    """Whether the node has a table: a test has none, an ephemeral model neither."""
    return (
        isinstance(node, dict)
        and node.get("resource_type") in ("model", "seed", "snapshot", "source")
        and config_of(node).get("materialized") != "ephemeral"
    )


def config_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node's config, empty where it has none."""
    config = node.get("config")
    return config if isinstance(config, dict) else {}


def column_named(text: Any) -> str | None:
    """The column a test names, None where the text is an expression."""
    if not isinstance(text, str):
        return None
    text = text.strip()
    called = _QUOTE_CALL.fullmatch(text)
    if called:
        return called[1]
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return next(group for group in quoted.groups() if group)
    return text if _PLAIN.fullmatch(text) else None


def columns_named(texts: Any) -> tuple[str, ...]:
    """All of them, none where one is no plain column."""
    found = [column_named(text) for text in texts] if isinstance(texts, list) else []
    return tuple(name for name in found if name) if found and all(found) else ()


def node_meant(text: Any, ids: Iterable[str], nodes: Mapping[str, Any]) -> str | None:
    """Which of the nodes `ref('orders')` or `source('shop', 'orders')` means."""
    call = _CALL.search(text) if isinstance(text, str) else None
    if call is None:
        return None
    arguments = _TEXT.findall(call[2])
    if not arguments:
        return None
    for id_ in ids:
        node = nodes.get(id_) or {}
        if node.get("name") != arguments[-1]:
            continue
        home = node.get("source_name" if call[1] == "source" else "package_name")
        if len(arguments) == 1 or home == arguments[0]:
            return id_
    return None


def needed_nodes(test: Mapping[str, Any]) -> list[str]:
    """The nodes a test depends on, each once."""
    depends = test.get("depends_on")
    found = depends.get("nodes") if isinstance(depends, dict) else None
    return list(dict.fromkeys(str(id_) for id_ in found)) if isinstance(found, list) else []
