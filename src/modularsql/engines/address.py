"""Where a database server is: a URL taken apart, and shown without its secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from modularsql.errors import InputError

_SECRET = ("password", "passwd", "sslpassword")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server's database as a URL names it; what is None is left to the driver's defaults.

    `options` are the URL's `?name=value` pairs. Secrets are in neither `repr` nor `shown`.
    """

    scheme: str
    user: str | None = None
    host: str | None = None
    port: int | None = None
    database: str | None = None
    password: str | None = field(default=None, repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def shown(self) -> str:
        """The URL without secrets and options, for people."""
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{self.scheme}://{user}{self.host or ''}{port}/{self.database or ''}"

    def without_secrets(self, text: str) -> str:
        """A driver's message on one line, in which no secret is to be read."""
        for secret in (self.password, *(self.options.get(name) for name in _SECRET)):
            if secret:
                text = text.replace(secret, "***")
        return " ".join(text.split())


def read_address(url: str) -> Address:
    """Take `scheme://user:password@host:port/database?option=value` apart.

    A driver's name behind the scheme (`postgresql+psycopg`) is left out. Raises `InputError`,
    which repeats nothing of a URL that could not be read: its password may be anywhere in it.
    """
    scheme = url.partition("://")[0].lower().split("+")[0]
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=False))
        port = parts.port
    except ValueError:
        raise _unreadable(scheme) from None
    if parts.fragment or "/" in parts.path[1:]:
        raise _unreadable(scheme)
    password = next((options.pop(n) for n in _SECRET[:2] if n in options), None)
    if parts.password is not None:
        password = unquote(parts.password)
    return Address(
        scheme=scheme,
        user=_decoded(parts.username) or options.pop("user", None),
        host=_decoded(parts.hostname) or options.pop("host", None),
        port=port,
        database=_decoded(parts.path[1:]),
        password=password,
        options=options,
    )


def _decoded(part: str | None) -> str | None:
    return unquote(part) if part else None


def _unreadable(scheme: str) -> InputError:
    return InputError(
        f"the {scheme}:// URL cannot be read",
        f"write {scheme}://user:password@host:port/database, special characters %-encoded "
        "(@ is %40, / is %2F, # is %23)",
        "url",
    )
