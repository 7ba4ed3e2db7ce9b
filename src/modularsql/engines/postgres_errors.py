"""What PostgreSQL's error codes and messages mean for whoever asked.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

import re

import psycopg

from modularsql.engines.address import Address
from modularsql.errors import InputError, ModularSqlError, SetupError
from modularsql.records import Failure, FailureKind

_KINDS = {  # SQLSTATE, or its first two letters: what became of the query
    "25006": FailureKind.REFUSED,  # a write in a read-only transaction
    "40P01": FailureKind.LOCKED,  # deadlock
    "40001": FailureKind.LOCKED,  # a standby had to go on
    "55P03": FailureKind.LOCKED,
    "54001": FailureKind.ERROR,  # nested too deeply
    "54011": FailureKind.ERROR,  # too many columns
    "54023": FailureKind.ERROR,  # too many arguments
    "53": FailureKind.TOO_LARGE,
    "54": FailureKind.TOO_LARGE,
    "57014": FailureKind.TIMEOUT,
    "57": FailureKind.DIED,
    "08P01": FailureKind.UNBOUND,  # fewer values than places
    "08": FailureKind.DIED,
    "42P02": FailureKind.UNBOUND,
}
_MESSAGES = (
    ("invalid memory alloc request size", FailureKind.TOO_LARGE),
    ("multiple commands into a prepared statement", FailureKind.REFUSED),
)
_WORDS = {
    FailureKind.TIMEOUT: "stopped at the time limit",
    FailureKind.LOCKED: "another transaction held a lock ({})",
    FailureKind.DIED: "the server ended the connection ({}); the next query connects again",
}

_CONNECTING = (  # part of the message, kind, what to do
    ("password authentication failed", "login", "check the user and the password of the URL"),
    ("no password supplied", "login", "put it in the URL, PGPASSWORD or ~/.pgpass"),
    ("too many connections", "busy", "close other connections, or try again later"),
    ('role "', "login", "check the user of the URL"),
    ('" does not exist', "not_found", "check the database of the URL"),
    ("permission denied for database", "login", "GRANT CONNECT ON DATABASE … TO this role"),
    ("failed to resolve host", "unreachable", "check the host of the URL"),
    ("could not translate host", "unreachable", "check the host of the URL"),
    ("server does not support SSL", "tls", "take sslmode out of the URL, or set up TLS there"),
    ("no encryption", "tls", "add ?sslmode=require to the URL"),
    ("no pg_hba.conf entry", "login", "let this user in from here: pg_hba.conf"),
    ("certificate", "tls", "check sslmode and sslrootcert"),
    ("too many clients", "busy", "close other connections, or try again later"),
    ("connection slots are reserved", "busy", "close other connections, or try again later"),
    ("Connection refused", "unreachable", "is the server running at that host and port?"),
    ("timeout expired", "unreachable", "is the server reachable from here?"),
)
_STARTING = ("the database system is", "not yet accepting connections", "in recovery mode")


def failure(error: psycopg.Error, out_of_time: bool) -> Failure:
    """The failure of a query."""
    code = error.sqlstate or ("08" if isinstance(error, psycopg.OperationalError) else "")
    message = _primary(error)
    kind = _KINDS.get(code) or _KINDS.get(code[:2]) or FailureKind.ERROR
    if kind == FailureKind.DIED and error.diag.severity_nonlocalized == "ERROR":
        kind = FailureKind.ERROR  # of a server behind this one (a foreign table's)
    kind = next((k for part, k in _MESSAGES if part in message), kind)
    if kind == FailureKind.TIMEOUT and "statement timeout" not in message and not out_of_time:
        return Failure(kind=FailureKind.ERROR, message=f"cancelled on the server: {message}")
    if kind == FailureKind.DIED and out_of_time:
        kind = FailureKind.TIMEOUT  # it did not end in time, and we hung up
    if code == "42501":
        message += " (grant it: GRANT SELECT ON … TO this role)"
    return Failure(kind=kind, message=_WORDS.get(kind, "{}").format(message))


def is_starting(error: psycopg.Error) -> bool:
    """Whether a server that starts or stops just now refused us: asking again may help."""
    return any(part in str(error) for part in _STARTING)


def unreachable(address: Address, error: psycopg.Error) -> ModularSqlError:
    """Why there is no connection, in one line without secrets."""
    message = address.without_secrets(_without_hints(error))
    # "connection failed: connection to server at "…", port … failed: FATAL:  …": the end says it.
    reason = re.split(r"FATAL: +|failed: ", message)[-1].strip() or message
    if isinstance(error, psycopg.ProgrammingError):
        said = f"the URL of {address.shown} is not right: {reason}"
        return InputError(said, "options are libpq's connection parameters", "url")
    for part, kind, hint in _CONNECTING:
        if part in message:
            return SetupError(f"cannot connect to {address.shown}: {reason}", hint, kind)
    hint = "try again when it is up" if is_starting(error) else "check the URL and the server"
    return SetupError(f"cannot connect to {address.shown}: {reason}", hint, "unreachable")


def _primary(error: psycopg.Error) -> str:
    """The message without place, context and hint, on one line."""
    text = error.diag.message_primary or _without_hints(error).split("\nLINE ")[0]
    return " ".join(text.split()) or type(error).__name__


def _without_hints(error: psycopg.Error) -> str:
    """Lines that begin with a tab are libpq's own hints, which ours would say again."""
    return "\n".join(line for line in str(error).splitlines() if not line.startswith("\t"))
