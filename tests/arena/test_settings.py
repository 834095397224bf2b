"""Settings: where they come from, what is refused, and what is hidden."""

import errno
import os
import re
import stat
import tempfile
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from arena.errors import SettingsError
from arena.host.settings import SECRETS, Settings, load_settings
from arena.play.messages import wake
from arena.running.doctor import examine
from arena.store.models import utc_now
from arena.store.storage import migrate_storage, open_storage
from referee.net.tls import ClientTls, ServerTls


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove settings from the environment, and change to a folder of the test's own."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"ARENA_{name.upper()}", raising=False)
    monkeypatch.delenv("ARENA_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


def test_settings_when_nothing_is_set_then_everything_is_in_the_data_folder(tmp_path: Path) -> None:
    settings = load_settings()
    data = tmp_path / ".arena"
    assert settings.data == data
    assert settings.database_url == f"sqlite:///{data}/arena.db"
    assert settings.broker_url == f"filesystem://{data}/broker"
    assert settings.referees == (settings.listen,)
    assert not data.exists()


def test_settings_when_given_in_several_places_then_call_beats_environment_beats_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "arena.toml"
    file.write_text('worker_threads = 1\nlease_seconds = 1\nlisten = "h:1"\nreferees = ["a:1", "b:2"]')
    monkeypatch.setenv("ARENA_CONFIG", str(file))
    monkeypatch.setenv("ARENA_WORKER_THREADS", "2")
    monkeypatch.setenv("ARENA_LEASE_SECONDS", "2")
    settings = load_settings({"worker_threads": 3})
    assert (settings.worker_threads, settings.lease_seconds, settings.listen) == (3, 2, "h:1")
    assert settings.referees == ("a:1", "b:2")


def test_settings_when_the_data_folder_has_a_file_then_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "arena.toml").write_text("beat_seconds = 9")
    assert load_settings({"data": tmp_path}).beat_seconds == 9


def test_referees_when_separated_by_commas_then_they_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_REFEREES", "a:1, b:2")
    assert load_settings().referees == ("a:1", "b:2")


def test_referee_ids_when_given_then_they_go_with_the_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_REFEREES", "a:1,b:2")
    assert load_settings().referee_ids == ()
    monkeypatch.setenv("ARENA_REFEREE_IDS", "one, two")
    settings = load_settings()
    assert settings.referee_ids == ("one", "two")
    assert settings.environment()["ARENA_REFEREE_IDS"] == "one,two"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("WORKER_THREADS", "many", "ARENA_WORKER_THREADS: must be a valid integer"),
        ("WORKER_THREADS", "٣", "ARENA_WORKER_THREADS: must be a valid integer"),
        ("WORKER_THREADS", "9" * 20, "ARENA_WORKER_THREADS: must be less than or equal to 1000"),
        ("LEASE_SECONDS", "0", "ARENA_LEASE_SECONDS: must be greater than or equal to 1"),
        *(
            (name, value, f"ARENA_{name}: must be ")
            for name in ("LEASE_SECONDS", "DRAIN_SECONDS", "BEAT_SECONDS", "WEBHOOK_SECONDS")
            for value in ("inf", "nan", "1e300", "٣")
        ),
        ("LISTEN", "127.0.0.1:٨٧١٠", "ARENA_LISTEN: '127.0.0.1:٨٧١٠' is not host:port"),
        ("LISTEN", f"127.0.0.1:{'9' * 5000}", "ARENA_LISTEN: '127.0.0.1:999"),
        ("LISTEN", "٨٧١٠", "ARENA_LISTEN: '٨٧١٠' is not host:port"),
        ("LISTEN", "8710", "ARENA_LISTEN: '8710' is not host:port, such as 127.0.0.1:8710"),
        ("REFEREES", "a:1,b", "ARENA_REFEREES: 'b' is not host:port"),
        ("REFEREES", "a:1,b:1,a:1", "ARENA_REFEREES: a:1 is listed twice"),
        ("REFEREE_IDS", "a,b", "ARENA_REFEREE_IDS: 2 names for 1 referees"),
        ("REFEREE_IDS", "a b", "ARENA_REFEREE_IDS: 'a b' is not 1 to 64 letters, digits and any of"),
        (
            "LISTEN",
            "0.0.0.0:8710",
            "setting referees: 0.0.0.0:8710 is not an address; set referees to what bots",
        ),
        ("LOCAL_REFEREES", "0", "ARENA_LOCAL_REFEREES: must be greater than or equal to 1"),
        ("LOCAL_REFEREES", "65", "ARENA_LOCAL_REFEREES: must be less than or equal to 64"),
        ("LOCAL_REFEREES", "9" * 5000, "ARENA_LOCAL_REFEREES: Unable to parse input string"),
        ("DATA", "~nobody-here/arena", "setting data: ~nobody-here/arena: home folder not found"),
        (
            "TLS_CERTIFICATE",
            "~nobody-here/r.pem",
            "setting tls_certificate: ~nobody-here/r.pem: home folder not found",
        ),
        ("DRAIN_SECONDS", "-1", "ARENA_DRAIN_SECONDS: must be greater than or equal to 0"),
        ("SPECTATORS", "nobody", "ARENA_SPECTATORS: must be 'anyone' or 'token'"),
        ("TLS_CERTIFICATE", "r.pem", "setting tls_key: not set, and tls_certificate needs it"),
        ("TLS_KEY", "r.key", "setting tls_certificate: not set, and tls_key needs it"),
        ("TLS_CLIENT_CA", "ca.pem", "setting tls_certificate: not set, and tls_client_ca needs it"),
        (
            "TLS_CLIENT_CERTIFICATE",
            "w.pem",
            "setting tls_client_key: not set, and tls_client_certificate needs it",
        ),
        ("DATABASE_URL", "my.db", "ARENA_DATABASE_URL: not a database URL"),
        ("DATABASE_URL", "sqlite://", "ARENA_DATABASE_URL: SQLite needs a file"),
        ("BROKER_URL", "rabbit://host", "ARENA_BROKER_URL: not a broker URL"),
        (
            "BROKER_URL",
            "filesystem://folder",
            "ARENA_BROKER_URL: filesystem://folder is not filesystem:///f",
        ),
        (
            "BROKER_URL",
            "filesystem:///a#b",
            "ARENA_BROKER_URL: filesystem:///a#b is not filesystem:///folder",
        ),
        ("CONFIG", "/nowhere/arena.toml", "ARENA_CONFIG: /nowhere/arena.toml does not exist"),
        (
            "DATA",
            "/tmp/a\r",
            "setting data: contains the control character '\\r': does its file have the line",
        ),
        ("LISTEN", "127.0.0.1:1\r", "ARENA_LISTEN: contains the control character '\\r'"),
        ("DATABASE_URL", "sqlite:////a.db\r", "ARENA_DATABASE_URL: contains the control character '\\r'"),
        ("LISTEN", " 127.0.0.1:8710", "ARENA_LISTEN: ' 127.0.0.1:8710' is not host:port"),
        ("REFEREES", "a b:1", "ARENA_REFEREES: 'a b:1' is not host:port"),
        ("REFEREES", "'a:1,b:2'", 'ARENA_REFEREES: "\'a:1" is not host:port'),
        ("WEB_URL", "arena.example", "ARENA_WEB_URL: 'arena.example' is not an address like https://arena"),
    ],
)
def test_setting_when_it_is_wrong_then_one_line_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"ARENA_{name}", value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_database_when_it_is_postgresql_under_any_of_its_names_then_the_driver_is_ours(scheme: str) -> None:
    settings = load_settings({"database_url": f"{scheme}://ann:pass@host/arena"})
    assert settings.database_url == "postgresql+psycopg://ann:pass@host/arena"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("worker_thread = 3", "setting worker_thread: no such setting"),
        ("worker_threads = ", "ARENA_CONFIG: .*arena.toml: is not TOML: "),
        (b"# \xff", "ARENA_CONFIG: .*arena.toml: is not TOML: 'utf-8' codec"),
        ("listen = " + 9999 * "[", "ARENA_CONFIG: .*arena.toml: is not TOML: "),
        ('tls_ca = "~nobody-here/ca.pem"', "setting tls_ca: ~nobody-here/ca.pem: home folder not found"),
        ('tls_ca = "ca\\u0000.pem"', r"setting tls_ca: contains the control character '\\x00'$"),
    ],
)
def test_file_when_it_is_wrong_then_one_line_says_so(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    (tmp_path / "arena.toml").write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SettingsError, match=message) as caught:
        load_settings({"data": tmp_path})
    assert "\n" not in str(caught.value)


def test_data_when_it_cannot_be_written_then_one_line_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"setting data: cannot write in .*file/arena"):
        load_settings({"data": tmp_path / "file" / "arena"}).prepare()


def test_worker_secret_when_not_set_then_it_is_drawn_once_and_kept_for_the_owner_only(tmp_path: Path) -> None:
    first, second = load_settings({"data": tmp_path}), load_settings({"data": tmp_path})
    assert first.worker_secret() == second.worker_secret()
    assert len(first.worker_secret()) > 40
    assert stat.S_IMODE((tmp_path / "worker-token").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"setting data: cannot keep the worker token in .*worker-token: Is a directory"),
        (
            b"\xff",
            r"setting data: .*worker-token holds no worker token \(too short: .*\); delete it for a new",
        ),
        (
            b"a" * 40 + b" b",
            r"setting data: .*worker-token holds no worker token \(contains a space\); delete",
        ),
    ],
)
def test_worker_secret_when_its_file_cannot_be_read_then_one_line_names_it(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    file = tmp_path / "worker-token"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match=message):
        load_settings({"data": tmp_path}).worker_secret()


def test_worker_secret_when_the_disk_is_full_then_one_that_is_kept_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = load_settings({"data": tmp_path}).worker_secret()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("TemporaryFile", "NamedTemporaryFile"):
        monkeypatch.setattr(tempfile, name, refuse)
    assert load_settings({"data": tmp_path}).worker_secret() == kept
    with pytest.raises(SettingsError, match="No space left on device"):
        load_settings({"data": tmp_path}).webhook_secret()


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%b", "a%20b", "a b"])
def test_data_when_its_name_has_marks_of_a_url_then_everything_is_in_it(tmp_path: Path, name: str) -> None:
    settings = load_settings({"data": tmp_path / name})
    migrate_storage(settings)
    with open_storage(settings):
        wake(settings, 1)
    assert settings.broker_folder == tmp_path / name / "broker"
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name / "arena.db").exists()
    assert len(list((tmp_path / name / "broker" / "queue").glob("*.msg"))) == 1


def test_worker_secret_when_set_then_nothing_is_written(tmp_path: Path) -> None:
    assert (
        load_settings({"data": tmp_path, "worker_token": "hush-hush-hush-hush"}).worker_secret()
        == "hush-hush-hush-hush"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql+psycopg://ann:hush@host/arena", "postgresql+psycopg://ann:***@host/arena"),
        ("postgresql+psycopg://ann:hu/s?h@host:1/arena", "postgresql+psycopg://ann:***@host:1/arena"),
        (
            "postgresql+psycopg://host/arena?password=hush&sslmode=require",
            "postgresql+psycopg://host/arena?password=***&sslmode=require",
        ),
        (
            "postgresql+psycopg://ann@host/arena?passfile=/hush",
            "postgresql+psycopg://ann@host/arena?passfile=***",
        ),
        (
            "postgresql+psycopg://ann@host/arena?host=a&sslpassword=hush",
            "postgresql+psycopg://ann@host/arena?host=a&sslpassword=***",
        ),
        ("postgresql+psycopg://host/arena?p%61ssword=hush", "postgresql+psycopg://host/arena?p%61ssword=***"),
        ("sqlite:////data/a:b@c/arena.db", "sqlite:////data/a:b@c/arena.db"),
    ],
)
def test_shown_when_the_database_has_secrets_then_they_are_hidden(url: str, shown: str) -> None:
    assert load_settings({"database_url": url}).shown()["database_url"] == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("amqp://ann:hush@host//", "amqp://ann:***@host//"),
        ("amqp://ann:hu@sh@host//", "amqp://ann:***@host//"),
        ("redis://:hush@host:1/0", "redis://:***@host:1/0"),
        ("redis://host/0?ssl_keyfile_password=hush", "redis://host/0?ssl_keyfile_password=***"),
        (
            "rediss://host/0?ssl_cert_reqs=none&ssl_keyfile=hush",
            "rediss://host/0?ssl_cert_reqs=none&ssl_keyfile=***",
        ),
        ("sentinel://:hush@a:1;sentinel://:hush@b:2", "sentinel://:***@a:1;sentinel://:***@b:2"),
        ("sqs://key:hush@", "sqs://key:***@"),
        ("mongodb://ann:hush@a:1,b:2/arena?token=hush", "mongodb://ann:***@a:1,b:2/arena?token=***"),
        ("filesystem:///data/a:b@c/broker", "filesystem:///data/a:b@c/broker"),
    ],
)
def test_shown_when_the_broker_has_secrets_then_they_are_hidden(url: str, shown: str) -> None:
    assert load_settings({"broker_url": url}).shown()["broker_url"] == shown


@pytest.mark.parametrize("name", SECRETS)
def test_shown_when_there_is_a_secret_then_it_is_hidden(name: str) -> None:
    assert "hush-hush-hush-hush" not in str(load_settings({name: "hush-hush-hush-hush"}).shown())


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hush/and@host/0",
        "redis://host:hush/0",
        "redis://:hush;and@host/0",
        "amqp://ann:x@host//?password=hush",
        "rediss://host/0?ssl_cert_reqs=hush",
        "filesystem://ann:hush@folder",
        "redis://[hush",
    ],
)
def test_broker_when_its_url_is_wrong_then_its_secrets_are_not_told(url: str) -> None:
    with pytest.raises(SettingsError, match=r"^setting broker_url: ") as caught:
        load_settings({"broker_url": url})
    assert "hush-hush-hush-hush" not in str(caught.value)


def test_environment_when_given_to_a_child_then_it_has_the_same_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = load_settings(
        {name: f"{name}-hush-hush" for name in SECRETS} | {"referees": "a:1,b:2", "lease_seconds": 2.5}
    )
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    assert load_settings() == settings


TLS = Path(__file__).parent / "tls"
"""Certificates and keys made for these tests, and of no use for anything else."""

REFEREE = {"tls_certificate": TLS / "referee.pem", "tls_key": TLS / "referee.key"}
WORKER = {"tls_client_certificate": TLS / "worker.pem", "tls_client_key": TLS / "worker.key"}


def content(name: str) -> bytes:
    return (TLS / name).read_bytes()


def test_tls_when_nothing_is_set_then_there_is_none() -> None:
    assert load_settings().server_tls() is None
    assert load_settings().client_tls() is None


def test_tls_when_a_referee_has_a_certificate_then_clients_of_this_host_trust_it() -> None:
    settings = load_settings(REFEREE)
    assert settings.server_tls() == ServerTls(content("referee.pem"), content("referee.key"))
    assert settings.client_tls() == ClientTls(content("referee.pem"))


def test_tls_when_everything_is_set_then_both_sides_know_each_other() -> None:
    settings = load_settings({**REFEREE, **WORKER, "tls_client_ca": TLS / "ca.pem", "tls_ca": TLS / "ca.pem"})
    assert settings.server_tls() == ServerTls(
        content("referee.pem"), content("referee.key"), content("ca.pem")
    )
    assert settings.client_tls() == ClientTls(content("ca.pem"), content("worker.pem"), content("worker.key"))


def test_tls_when_the_system_is_trusted_then_no_file_is_read() -> None:
    assert load_settings({"tls_ca": "system"}).client_tls() == ClientTls()


def test_tls_when_a_referee_asks_for_certificates_then_workers_here_need_one() -> None:
    settings = load_settings({**REFEREE, "tls_client_ca": TLS / "ca.pem"})
    with pytest.raises(
        SettingsError, match=r"^setting tls_client_certificate: not set, and with tls_client_ca"
    ):
        settings.client_tls()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tls_certificate": TLS / "none.pem"}, r"tls_certificate: cannot read .*none.pem: No such file"),
        ({"tls_certificate": TLS}, r"tls_certificate: cannot read .*tls: Is a directory"),
        ({"tls_key": TLS / "ca.pem"}, r"tls_key: .*ca.pem has no private key in PEM"),
        ({"tls_certificate": TLS / "self.key"}, r"tls_certificate: .*self.key has no certificate in PEM"),
        ({"tls_key": TLS / "self.key"}, r"tls_key: .*self.key is not the key of .*referee.pem"),
        ({"tls_key": TLS / "locked.key"}, r"tls_certificate: .* is damaged, or needs a password"),
        ({"tls_client_ca": TLS / "self.key"}, r"tls_client_ca: .*self.key has no certificate in PEM"),
        ({"tls_key": "marked.key"}, r"tls_key: .*marked.key begins with a byte order mark: save it as plain"),
        ({"tls_client_ca": "damaged.pem"}, r"tls_client_ca: .*damaged.pem has a damaged certificate"),
    ],
)
def test_tls_when_a_file_is_wrong_then_one_line_names_it(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    (tmp_path / "damaged.pem").write_bytes(content("ca.pem").replace(b"MII", b"AAA", 1))
    (tmp_path / "marked.key").write_bytes(b"\xef\xbb\xbf" + content("referee.key"))
    with pytest.raises(SettingsError, match=f"^setting {message}") as caught:
        load_settings({**REFEREE, **change}).server_tls()
    assert "\n" not in str(caught.value)


def test_environment_when_a_setting_is_taken_back_then_a_child_has_it_taken_back_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARENA_TLS_CA", "system")
    settings = load_settings({"tls_ca": None})
    assert settings.client_tls() is None
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    assert load_settings() == settings


def test_referees_when_several_run_here_then_all_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_LOCAL_REFEREES", "3")
    assert load_settings({"listen": "h:5"}).referees == ("h:5", "h:6", "h:7")


def test_documentation_when_compared_with_the_settings_then_it_names_all_and_their_defaults() -> None:
    text = (Path(__file__).parents[2] / "docs" / "running.md").read_text()
    told = dict(re.findall(r"^\| `ARENA_(\w+)` \| (.+?) \| ", text, flags=re.MULTILINE))
    assert {name.lower() for name in told} == set(Settings.model_fields)
    for name, field in Settings.model_fields.items():
        if field.default not in ("", (), None):
            assert told[name.upper()] == f"`{field.default}`"


@pytest.mark.parametrize(
    ("listen", "exposed"),
    [
        ("127.0.0.1:8710", False),
        ("127.8.8.8:8710", False),
        ("[::1]:8710", False),
        ("localhost:8710", False),
        ("0.0.0.0:8710", True),
        ("[::]:8710", True),
        ("10.0.0.1:8710", True),
        ("arena.example.org:8710", True),
    ],
)
def test_listen_without_tls_is_told_where_other_hosts_reach_it(listen: str, exposed: bool) -> None:
    settings = load_settings({"listen": listen, "referees": "a:1"})
    assert (settings.exposed() is not None) == exposed


@pytest.mark.parametrize("name", SECRETS)
def test_secret_when_it_is_short_then_it_is_refused_and_not_shown(name: str) -> None:
    with pytest.raises(SettingsError, match=rf"^setting {name}: too short") as caught:
        load_settings({name: "fifteen-letters"})
    assert "fifteen" not in str(caught.value)


@pytest.mark.parametrize(
    ("secret", "wrong"),
    [
        (
            f"{'a' * 20}\r",
            r"contains the control character '\r': does its file have the line ends of Windows?",
        ),
        (f"{'a' * 20} b", "contains a space"),
        (f"{'a' * 20}ä", "contains '\\xe4', which no token has"),
        (f'"{"a" * 20}"', "is in quotes: leave them out"),
    ],
)
@pytest.mark.parametrize("name", SECRETS)
def test_secret_when_no_call_could_carry_it_then_it_is_refused_and_not_shown(
    name: str, secret: str, wrong: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({name: secret})
    assert str(caught.value) == f"setting {name}: {wrong}"


def test_worker_secret_when_its_file_was_edited_then_what_came_around_it_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "worker-token").write_bytes(b"\xef\xbb\xbfbt_worker_0123456789\r\n")
    assert load_settings({"data": tmp_path}).worker_secret() == "bt_worker_0123456789"


def test_settings_when_the_data_folder_is_named_by_nothing_then_all_of_it_is_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = load_settings()
    monkeypatch.setenv("ARENA_DATA", "")
    assert load_settings() == usual
    assert usual.data == tmp_path / ".arena"


def test_file_when_it_begins_with_a_byte_order_mark_then_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "arena.toml").write_text("beat_seconds = 9", encoding="utf-8-sig")
    assert load_settings({"data": tmp_path}).beat_seconds == 9


class Made(NamedTuple):
    """A certificate, its key, and the files that hold them."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    pem: Path
    key_file: Path


def made(
    folder: Path,
    name: str,
    by: Made | None = None,
    *,
    host: str = "127.0.0.1",
    days: tuple[int, int] = (-1, 1),
    above: bool = False,
) -> Made:
    """Make a certificate that is valid from and until so many days after now, signed ``by`` an authority.

    With ``above``, its file also holds the authority's.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=name != "leaf", path_length=None), critical=True)
        .sign(by.key if by else key, hashes.SHA256())
    )
    pem, file = folder / f"{name}.pem", folder / f"{name}.key"
    pem.write_bytes(certificate.public_bytes(Encoding.PEM) + (by.pem.read_bytes() if by and above else b""))
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return Made(certificate, key, pem, file)


def certified(leaf: Made, **others: object) -> Settings:
    return load_settings({"tls_certificate": leaf.pem, "tls_key": leaf.key_file, **others})


@pytest.mark.parametrize(
    ("leaf", "wrong"),
    [
        ({"days": (-3, -2)}, "has expired, or a certificate above it in the same file has"),
        ({"days": (2, 3)}, "is not valid yet: is the clock of this host right?"),
        ({"host": "10.9.8.7"}, "is not for 127.0.0.1, as which it is reached"),
    ],
)
def test_tls_when_no_client_would_accept_a_certificate_then_it_is_refused_at_the_start(
    tmp_path: Path, leaf: dict[str, Any], wrong: str
) -> None:
    root = made(tmp_path, "root")
    settings = certified(made(tmp_path, "leaf", root, **leaf), tls_ca=root.pem)
    told = f"setting tls_certificate: {tmp_path}/leaf.pem {wrong}"
    with pytest.raises(SettingsError) as caught:
        settings.server_tls()
    assert str(caught.value) == told
    web = load_settings({"web_certificate": tmp_path / "leaf.pem", "web_key": tmp_path / "leaf.key"})
    if "host" in leaf:
        web.check_web_tls()  # proxies reach it by any name
    else:
        with pytest.raises(SettingsError, match=f"^setting web_certificate: .*leaf.pem {wrong[:10]}"):
            web.check_web_tls()
    [found] = [
        one for one in examine({"data": tmp_path, **tls_of(settings)}, utc_now) if one.check == "settings"
    ]
    assert (found.level, found.found) == ("fail", told)


def tls_of(settings: Settings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in ("tls_certificate", "tls_key", "tls_ca")}


def test_tls_when_the_chain_of_a_certificate_is_not_in_its_file_then_it_is_refused(tmp_path: Path) -> None:
    root = made(tmp_path, "root")
    middle = made(tmp_path, "middle", root)
    with pytest.raises(
        SettingsError, match=r"^setting tls_certificate: .*leaf.pem does not lead to an authority"
    ):
        certified(made(tmp_path, "leaf", middle), tls_ca=root.pem).server_tls()
    assert certified(made(tmp_path, "leaf", middle)).server_tls() is not None  # clients here trust it itself
    settings = certified(made(tmp_path, "leaf", middle, above=True), tls_ca=root.pem)
    assert settings.server_tls() is not None
    found = [
        one.found for one in examine({"data": tmp_path, **tls_of(settings)}, utc_now) if one.check == "TLS"
    ]
    assert found == ["the files are in order; bots have to trust CN=root"]


def test_tls_when_a_certificate_is_for_one_of_several_referees_then_only_that_one_may_present_it(
    tmp_path: Path,
) -> None:
    settings = certified(made(tmp_path, "leaf"), referees="10.0.0.1:8710,127.0.0.1:8710")
    assert settings.server_tls() == settings.server_tls("127.0.0.1:8710") is not None
    with pytest.raises(SettingsError, match=r"is not for 10\.0\.0\.1, as which it is reached$"):
        settings.server_tls("10.0.0.1:8710")


def test_tls_when_the_workers_certificate_has_expired_then_that_is_said(tmp_path: Path) -> None:
    root = made(tmp_path, "root")
    worker = made(tmp_path, "worker", root, days=(-3, -2))
    clients = {
        "tls_client_ca": root.pem,
        "tls_client_certificate": worker.pem,
        "tls_client_key": worker.key_file,
    }
    with pytest.raises(SettingsError, match=r"^setting tls_client_certificate: .*worker.pem has expired"):
        certified(made(tmp_path, "leaf", root), tls_ca=root.pem, **clients).server_tls()


def test_settings_when_several_in_a_file_are_wrong_then_each_is_told_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "arena.toml"
    file.write_text('tls_key = 5\nworker_treads = 3\nreferees = ["a"]\n')
    monkeypatch.setenv("ARENA_CONFIG", str(file))
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert list(map(str, caught.value.problems)) == [
        "setting referees: 'a' is not host:port",
        "setting tls_key: must be the path of a file or folder, not 5",
        "setting worker_treads: no such setting; did you mean 'worker_threads'?",
    ]
