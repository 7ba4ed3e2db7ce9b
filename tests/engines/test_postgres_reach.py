"""A PostgreSQL server that cannot be reached is told in one line, without secrets."""

import socket
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
from tests.servers import POSTGRES_SERVER as SERVER

from modularsql.config import Settings
from modularsql.engines.address import read_address
from modularsql.engines.connect import connect
from modularsql.engines.postgres_errors import unreachable
from modularsql.errors import InputError, SetupError

pytestmark = pytest.mark.skipif(SERVER.absent is not None, reason=str(SERVER.absent))


@pytest.fixture
def role() -> Iterator[str]:
    """A role that may log in, and nothing else."""
    name = f"modularsql_login_{threading.get_native_id()}"
    SERVER.run(SERVER.url, [f"CREATE ROLE {name} LOGIN PASSWORD 's3cret'"])
    yield name
    SERVER.run(SERVER.url, [f"DROP ROLE {name}"])


UNREACHABLE = {
    "unknown host": ("postgresql://u:s3cret@no-such-host.invalid/d", "unreachable", "host"),
    "unknown user": ("{base}/test", "login", "does not exist"),
    "unknown database": ("{root}/no_such_database", "not_found", "does not exist"),
    "no server": ("postgresql://u:s3cret@127.0.0.1:1/d", "unreachable", "refused"),
    "no TLS": ("{root}/test?sslmode=require", "tls", "SSL"),
    "no such option": ("{root}/test?no_such=1", "url", "no_such"),
    "unreadable": ("postgresql://u:s3cret/#@h/d", "url", "cannot be read"),
    "no port": ("postgresql://u@h:s3cret/d", "url", "cannot be read"),
}


@pytest.mark.parametrize("name", UNREACHABLE)
def test_what_cannot_be_reached_is_told_in_one_line_without_secrets(name: str) -> None:
    form, kind, part = UNREACHABLE[name]
    place = SERVER.url.partition("@")[2].partition("/")[0]
    url = form.format(base=f"postgresql://no_such_user:s3cret@{place}", root=SERVER.url[:-5])
    with pytest.raises((SetupError, InputError)) as caught:
        connect(url, Settings(timeout=3))
    assert caught.value.kind == kind, caught.value
    assert part in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_a_wrong_password_is_told(role: str) -> None:
    """Needs a server that asks for one; where it trusts everybody there is nothing to see."""
    place = SERVER.url.partition("@")[2]
    try:
        connect(f"postgresql://{role}:wr0ng@{place}", Settings(timeout=3)).close()
    except SetupError as error:
        assert error.kind == "login"  # noqa: PT017 - a server that asks for none raises none
        assert "wr0ng" not in str(error)  # noqa: PT017
    else:
        pytest.skip("this server asks for no password")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ('FATAL:  password authentication failed for user "u"', "login"),
        ("fe_sendauth: no password supplied", "login"),
        ("FATAL:  sorry, too many clients already", "busy"),
        ("FATAL:  remaining connection slots are reserved for superusers", "busy"),
        ('FATAL:  no pg_hba.conf entry for host "h", user "u", database "d", no encryption', "tls"),
        (
            'FATAL:  no pg_hba.conf entry for host "h", user "u", database "d", SSL encryption',
            "login",
        ),
        ("SSL error: certificate verify failed", "tls"),
        ("FATAL:  the database system is starting up", "unreachable"),
    ],
)
def test_what_a_server_says_at_the_door_has_its_kind_and_hint(said: str, kind: str) -> None:
    address = read_address("postgresql://u:s3cret@h:5432/d")
    before = 'connection failed: connection to server at "h", port 5432 failed: '
    error = unreachable(address, psycopg.OperationalError(f"{before}{said} (s3cret)\nmore"))
    assert error.kind == kind
    assert error.hint
    assert "s3cret" not in str(error)


def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        start = time.monotonic()
        with pytest.raises(SetupError) as caught:
            connect(
                f"postgresql://u:s3cret@127.0.0.1:{silent.getsockname()[1]}/d", Settings(timeout=2)
            )
        assert time.monotonic() - start < 6
    assert caught.value.kind == "unreachable"
    assert "s3cret" not in str(caught.value)
