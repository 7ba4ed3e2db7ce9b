"""What the error numbers of MySQL and MariaDB mean for whoever asked."""

import pymysql

from modularsql.engines.address import Address
from modularsql.errors import ModularSqlError, SetupError
from modularsql.records import Failure, FailureKind

_KINDS = {
    1969: FailureKind.TIMEOUT,  # max_statement_time (MariaDB)
    3024: FailureKind.TIMEOUT,  # max_execution_time (MySQL)
    1317: FailureKind.TIMEOUT,  # KILL QUERY, by us
    1205: FailureKind.LOCKED,
    1213: FailureKind.LOCKED,  # deadlock
    1792: FailureKind.REFUSED,  # a write in a read-only transaction
    1290: FailureKind.REFUSED,  # an option of the server forbids it
    1227: FailureKind.REFUSED,  # a privilege beyond reading
    3: FailureKind.TOO_LARGE,  # no room for temporary files
    1021: FailureKind.TOO_LARGE,
    1037: FailureKind.TOO_LARGE,
    1038: FailureKind.TOO_LARGE,
    1041: FailureKind.TOO_LARGE,
    1114: FailureKind.TOO_LARGE,
    1153: FailureKind.TOO_LARGE,
    1301: FailureKind.TOO_LARGE,
    5: FailureKind.TOO_LARGE,
    1053: FailureKind.DIED,
    1927: FailureKind.DIED,  # KILL, by somebody
    0: FailureKind.DIED,
    2006: FailureKind.DIED,
    2013: FailureKind.DIED,
    2014: FailureKind.DIED,
    4031: FailureKind.DIED,
}
_WORDS = {
    FailureKind.TIMEOUT: "stopped at the time limit",
    FailureKind.LOCKED: "another transaction held a lock ({})",
    FailureKind.DIED: "the server ended the connection ({}); the next query connects again",
}
_COLLATIONS = (1267, 1270, 1271)
_DENIED = (1142, 1143, 1370, 1044)
_LOGIN = "check user and password of the URL; add ?ssl_ca=FILE where the user must come by TLS"
_BUSY = "close other connections of this user, or allow more: one database takes two"
_CONNECTING = {  # number: kind, what to do
    1045: ("login", _LOGIN),
    1698: ("login", _LOGIN),
    1044: ("login", "GRANT SELECT ON this database TO this user"),
    1130: ("login", "let this user in from here (CREATE USER … @'%')"),
    1049: ("not_found", "check the database of the URL"),
    1040: ("busy", "close other connections, or try again later: one database takes two"),
    1203: ("busy", _BUSY),
    1226: ("busy", _BUSY),
    3159: ("tls", "add ?ssl_ca=FILE or ?ssl_verify_cert=false to the URL"),
    2026: ("tls", "check ssl_ca, or take the ssl options out of the URL"),
    1053: ("unreachable", "try again when it is up"),
}
_REACHING = (  # part of the message of 2003, what to do
    ("refused", "is the server running at that host and port?"),
    ("timed out", "is the server reachable from here?"),
    ("resolution", "check the host of the URL"),
    ("not known", "check the host of the URL"),
    ("No address", "check the host of the URL"),
)


def failure(error: Exception, out_of_time: bool) -> Failure:
    """The failure of a query."""
    number, message = _said(error)
    kind = _KINDS.get(number, FailureKind.ERROR)
    if isinstance(error, OSError | pymysql.InterfaceError):
        kind = FailureKind.DIED
    if kind == FailureKind.DIED and out_of_time:
        kind = FailureKind.TIMEOUT  # it did not end in time, and we hung up
    if number == 1317 and not out_of_time:
        return Failure(kind=FailureKind.ERROR, message=f"cancelled on the server: {message}")
    if number in _COLLATIONS:
        message += " (say by which they compare: … COLLATE utf8mb4_general_ci)"
    if number in _DENIED:
        message += " (grant it: GRANT SELECT ON … TO this user)"
    return Failure(kind=kind, message=_WORDS.get(kind, "{}").format(message))


def unreachable(address: Address, error: Exception) -> ModularSqlError:
    """Why there is no connection, in one line without secrets."""
    number, message = _said(error)
    kind, hint = _CONNECTING.get(number, ("unreachable", "check the URL and the server"))
    hint = next((todo for part, todo in _REACHING if part in message), hint)
    said = address.without_secrets(message)
    return SetupError(f"cannot connect to {address.shown}: {said}", hint, kind)


def _said(error: Exception) -> tuple[int, str]:
    number = error.args[0] if error.args and isinstance(error.args[0], int) else -1
    message = str(error.args[1]) if len(error.args) > 1 else str(error)
    return number, " ".join(message.split()) or type(error).__name__
