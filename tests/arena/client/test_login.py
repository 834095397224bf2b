"""Signing in from the command line, and what commands say about unusable keys and servers."""

import json
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest

from arena.actors import Role
from arena.client.logins import Login, own_logins
from arena.people import apikeys, browsers
from arena.people.invitations import invite
from arena.store.models import utc_now
from referee.cli.app import run
from tests.arena.cli import Result, assert_one_line
from tests.arena.client.conftest import Remote, make_key
from tests.arena.fakes import ROOT
from tests.arena.ports import free_address
from tests.arena.web.conftest import PASSWORD


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which keys are kept, in a folder of the test's own."""
    monkeypatch.delenv("ARENA_KEY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "bigtwo-arena" / "logins.json"


@pytest.fixture(scope="module")
def key(remote: Remote) -> str:
    return make_key(remote.storage, "ann")


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> Result:
    capsys.readouterr()
    status = run([*map(str, arguments)])
    return Result(status, *capsys.readouterr())


def sign_in(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, url: str, key: str
) -> Result:
    """Sign in with a key on standard input."""
    monkeypatch.setattr(sys, "stdin", StringIO(f"{key}\n"))
    return called(capsys, "login", url)


def test_login_keeps_the_key_for_its_user_alone_and_prints_it_nowhere(
    config: Path,
    remote: Remote,
    key: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = sign_in(capsys, monkeypatch, f"{remote.url}/", key)
    assert (done.status, done.err) == (0, "")
    assert f"signed in at {remote.url} as ann, an author" in done.out
    assert key not in done.out
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.parent.stat().st_mode) == 0o700
    assert [one.name for one in config.parent.iterdir()] == [config.name]
    registered = called(capsys, "--server", remote.url, "bot", "register", "ann/one", "--json")
    assert json.loads(registered.out)["bot"] == "ann/one@1"


def test_login_takes_the_key_from_a_file_and_the_address_from_the_environment(
    config: Path,
    remote: Remote,
    key: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "key").write_text(f"{key}\n")
    monkeypatch.setenv("ARENA_SERVER", remote.url)
    assert called(capsys, "login", "--key-file", tmp_path / "key").status == 0
    assert called(capsys, "bot", "log", "ann/none").err.startswith("error: no bot 'ann/none'")


def test_login_when_the_file_of_keys_is_a_link_then_it_stays_one(config: Path) -> None:
    dotfiles = config.with_name("dotfiles.json")
    config.parent.mkdir(parents=True)
    config.symlink_to(dotfiles)
    own_logins().keep("https://arena.example", Login("ann", "bt_key_one"))
    assert config.readlink() == dotfiles
    assert "bt_key_one" in dotfiles.read_text()


def test_logout_forgets_the_key(
    config: Path,
    remote: Remote,
    key: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sign_in(capsys, monkeypatch, remote.url, key)
    assert called(capsys, "logout", remote.url).status == 0
    assert key not in config.read_text()
    assert_one_line(called(capsys, "logout", remote.url), 1, f"no key is stored for {remote.url}")
    refused = called(capsys, "--server", remote.url, "bot", "register", "ann/two")
    assert_one_line(refused, 1, "sign in", f": arena login {remote.url}")


def test_login_with_an_account_makes_a_key_of_it(
    config: Path, remote: Remote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_key(remote.storage, "pia")
    monkeypatch.setattr(sys, "stdin", StringIO(f"{PASSWORD}\n"))
    done = called(capsys, "login", remote.url, "--account", "pia")
    assert (done.status, done.err) == (0, "")
    [kept] = json.loads(config.read_text()).values()
    assert kept["account"] == "pia"
    assert PASSWORD not in config.read_text()
    assert kept["key"] not in done.out
    assert f", and valid until {utc_now() + timedelta(days=90):%Y-%m-%d}" in done.out
    assert called(capsys, "--server", remote.url, "bot", "register", "pia/one").status == 0
    assert_one_line(called(capsys, "--server", remote.url, "audit"), 1, "this key lacks the scope operate")


def test_keys_are_listed_and_revoked_and_logout_revokes_the_one_that_login_made(
    config: Path, remote: Remote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_key(remote.storage, "kay")
    monkeypatch.setattr(sys, "stdin", StringIO(f"{PASSWORD}\n"))
    called(capsys, "login", remote.url, "--account", "kay")
    [kept] = json.loads(config.read_text()).values()
    there = ("--server", remote.url, "account")
    shown = called(capsys, *there, "keys").out
    assert [line.split()[0] for line in shown.splitlines() if "read, " in line] == [kept["name"], "test"]
    assert called(capsys, *there, "revoke-key", "test", "--yes").out == "the key test is revoked\n"
    again = called(capsys, *there, "revoke-key", "test", "--yes")
    assert_one_line(again, 1, "the key test is revoked already")
    assert called(capsys, "logout", remote.url).out.endswith("is forgotten; it is revoked\n")
    assert apikeys.holder_of(remote.storage, kept["key"], utc_now()) is None
    here = called(capsys, "--data", config.parent, "account", "keys")
    assert_one_line(here, 1, "is about your account with an arena on the network", "--server or ARENA_SERVER")


def test_logout_when_the_arena_is_away_then_the_key_is_forgotten_and_it_says_what_it_is_still_good_for(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = f"http://{free_address()}"
    config.parent.mkdir(parents=True, mode=0o700)
    config.write_text(json.dumps({away: {"account": "ann", "key": "bt_key_x", "name": "login-1"}}))
    config.chmod(0o600)
    done = called(capsys, "logout", away)
    assert (done.status, json.loads(config.read_text())) == (0, {})
    assert "it could not be revoked, and stays valid until it expires" in done.out


def test_login_can_make_the_account_with_an_invitation(
    config: Path, remote: Remote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = invite(remote.storage, ROOT, Role.AUTHOR, utc_now()).code
    for words, status in (([], 1), (["--invitation", code], 0)):
        monkeypatch.setattr(sys, "stdin", StringIO(f"{PASSWORD}\n"))
        done = called(capsys, "login", remote.url, "--account", "new", "--sign-up", *words)
        assert done.status == status, done
    assert called(capsys, "--server", remote.url, "bot", "register", "new/one").status == 0


def test_login_when_the_password_is_wrong_then_a_line_says_so(
    config: Path, remote: Remote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("wrong\n"))
    refused = called(capsys, "login", remote.url, "--account", "root")
    assert_one_line(refused, 1, "wrong account name or password")
    assert not config.exists()


@pytest.mark.parametrize("wrong", ["bt_key_wrong", "", "two words", "ключ"])
def test_login_when_the_key_is_wrong_then_a_line_says_so_and_nothing_is_kept(
    wrong: str,
    config: Path,
    remote: Remote,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert_one_line(sign_in(capsys, monkeypatch, remote.url, wrong), 1, "key")
    assert not config.exists()


def test_login_when_the_connection_is_not_encrypted_then_no_key_is_sent(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = sign_in(capsys, monkeypatch, "http://arena.test", "bt_key_x")
    assert_one_line(refused, 1, "server: http://arena.test is not encrypted")


def test_login_when_others_may_read_the_keys_then_they_are_not_used(
    config: Path,
    remote: Remote,
    key: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sign_in(capsys, monkeypatch, remote.url, key)
    config.chmod(0o644)
    refused = called(capsys, "--server", remote.url, "leaderboard")
    assert_one_line(refused, 1, f"others may read {config}", f"chmod 600 {config}")


def test_key_when_it_has_expired_then_a_line_says_what_to_do(
    config: Path, remote: Remote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_key(remote.storage, "zed")
    _, actor = browsers.sign_in(remote.storage, "zed", PASSWORD, utc_now())
    past = utc_now() - timedelta(days=3)
    expired = apikeys.create_key(remote.storage, actor, "old", ("read",), past, 1).key
    monkeypatch.setenv("ARENA_KEY", expired)
    refused = called(capsys, "--server", remote.url, "bot", "log", "owner-0/bot-0")
    assert_one_line(refused, 1, "the key is unknown, revoked or expired: arena login http://127.0.0.1")
    assert expired not in refused.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--data", "x", "--server", "https://a.test", "leaderboard"], "not both"),
        (["login"], "the URL of an arena is required"),
        (["login", "https://a.test", "--sign-up"], "an account is required"),
        (["login", "https://a.test", "--account", "x", "--key-file", "y"], "not both"),
    ],
)
def test_usage_when_it_is_wrong_then_a_line_says_so(
    arguments: list[str], text: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_one_line(called(capsys, *arguments), 2, text)


def test_server_of_the_environment_gives_way_to_a_data_folder(
    config: Path, remote: Remote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_SERVER", f"http://{free_address()}")
    assert called(capsys, "--data", remote.folder / "data", "config").status == 0


def test_server_when_it_is_away_then_a_line_says_so(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://{free_address()}"
    assert_one_line(called(capsys, "--server", url, "leaderboard"), 1, f"{url} cannot be reached")


def test_server_when_its_url_is_none_then_a_line_says_so(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_one_line(
        called(capsys, "--server", "arena.test", "leaderboard"), 1, "server: 'arena.test' is not a URL"
    )


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Answer every request with these bytes and hang up; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                with connection:
                    if not connection.recv(65536):
                        return
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        address = listener.getsockname()
        try:
            yield f"http://{address[0]}:{address[1]}"
        finally:
            socket.create_connection(address).close()
            thread.join()


HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
CUT = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"leader'
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (HTML, "does not answer like an arena: text/html where JSON was expected"),
        (CUT, "was lost"),
        (b"\x00\x01\x02 garbage\r\n\r\n", "was lost"),
        (b"", "was lost"),
    ],
)
def test_server_when_it_answers_something_else_then_a_line_says_so(
    answer: bytes, text: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(answer) as url:
        failed = called(capsys, "--server", url, "leaderboard")
    assert_one_line(failed, 1, url, text)


def test_export_when_the_connection_is_lost_then_the_file_is_as_it_was(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out" / "cup.jsonl"
    file.parent.mkdir()
    file.write_text("before")
    with answering(CHUNKS) as url:
        failed = called(capsys, "--server", url, "export", "cup", "--output", file, "--force")
    assert_one_line(failed, 1, f"the connection to {url} was lost")
    assert file.read_text() == "before"
    assert [*file.parent.iterdir()] == [file]
