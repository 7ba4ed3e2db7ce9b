"""Where models may be called. Tests keep every call on this machine, whatever they construct."""

import ipaddress
from typing import Literal
from urllib.parse import urlsplit

from modularsql.errors import InputError, SetupError

Calls = Literal["any", "local", "none"]

ceiling: Calls = "any"
"""What no setting can go beyond in this process; the tests set it to `local`."""

_ORDER = ("none", "local", "any")


def is_here(url: str) -> bool:
    """Whether a URL names this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_reach(url: str, calls: str) -> None:
    """Raises `InputError` for what is no URL, `SetupError` where it may not be called."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fine = False
    if not fine:
        raise InputError(f"base_url is no URL: {url!r}", "write http://localhost:11434/v1")
    allowed = min(calls, ceiling, key=_ORDER.index)
    if allowed == "any" or (allowed == "local" and is_here(url)):
        return
    where = "no model" if allowed == "none" else "no model beyond this machine"
    raise SetupError(f"{where} may be called", "the setting calls says so", "calls")
