"""The arena's settings: from ``ARENA_*`` variables, else from a TOML file, else the defaults.

The file is the one that ``ARENA_CONFIG`` names, or ``arena.toml`` in the data folder.
"""

import os
import re
import secrets
import ssl
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self
from urllib.parse import quote, unquote, urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from sqlalchemy import URL, make_url

from arena.errors import SettingsError
from arena.host.addresses import (
    NO_PLACE,
    check_address,
    check_broker,
    check_database,
    local_addresses,
    split_address,
    without_secrets,
)
from arena.host.certificates import Rehearsal, read_authorities, read_pair
from arena.host.files import make_private
from arena.host.presence import REFEREE_TLS, TOGETHER, WEB_TLS, found_in
from referee.errors import Problem, TomlError
from referee.net.tls import ClientTls, ServerTls, from_files
from referee.reading.names import is_number, tidy, wrong_with
from referee.reading.toml import read_toml
from referee.reading.validation import short, suggestion

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

PREFIX = "ARENA_"
CONFIG = "ARENA_CONFIG"
"""The variable that names the TOML file; not a setting itself."""

DEFAULT_DATA = Path(".arena")

ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
"""The form of a referee's id."""
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""What no setting contains, but files with other line ends bring with them."""
SHORTEST_TOKEN = 16
"""Minimum length of a secret: whoever guesses the worker token can have referees play any match."""
SECRETS = ("worker_token", "webhook_key")
"""Settings that are never shown."""

TLS_FILES = (*REFEREE_TLS, *WEB_TLS)

TLS_NEEDS = {
    "tls_certificate": "tls_key",
    "tls_key": "tls_certificate",
    "tls_client_ca": "tls_certificate",
    "tls_client_certificate": "tls_client_key",
    "tls_client_key": "tls_client_certificate",
    "web_certificate": "web_key",
    "web_key": "web_certificate",
}
"""Settings that need another setting."""


class Settings(BaseSettings):
    """The settings, ready for use: paths are absolute, and defaults filled in."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    data: Path = DEFAULT_DATA
    """Folder for everything that the arena stores on this host: database, broker, logs, worker token."""
    database_url: str = ""
    """SQLAlchemy URL; by default a SQLite file in the data folder."""
    broker_url: str = ""
    """Celery broker; by default ``filesystem://`` and a folder in the data folder."""
    listen: str = "127.0.0.1:8710"
    """``host:port`` that the referee listens on."""
    referees: Annotated[tuple[str, ...], NoDecode] = ()
    """Addresses at which bots and workers reach the referees, separated by commas; by default those of
    ``arena up``."""
    referee_ids: Annotated[tuple[str, ...], NoDecode] = ()
    """Names of the referees that stay the same when their addresses change, in the order of ``referees``;
    none: their addresses."""
    local_referees: int = Field(default=1, ge=1, le=64)
    """Referees that ``arena up`` starts, on the port of ``listen`` and those that follow."""
    worker_token: SecretStr | None = None
    """Token with which workers authenticate to referees; None for a random one, stored in the data folder."""
    drain_seconds: float = Field(default=30, ge=0, le=86_400)
    """How long a referee that was told to stop continues its open sessions."""
    spectators: Literal["anyone", "token"] = "anyone"
    """Who may watch matches: anyone, or whoever has a token of an organiser or a spectator. Where other
    tables play the same deals, it always needs one."""
    live_delay_seconds: float = Field(default=0, ge=0, le=600)
    """Delay, in seconds, with which pages show matches that are being played."""
    tls_certificate: Path | None = None
    """PEM file with the referee's certificate and the chain above it; None: no TLS."""
    tls_key: Path | None = None
    """PEM file with the key of ``tls_certificate``."""
    tls_client_ca: Path | None = None
    """PEM file with the authorities that sign the certificates of clients; None: clients need none."""
    tls_ca: Literal["system"] | Path | None = None
    """PEM file with the authorities that workers trust, or ``system``; by default ``tls_certificate``."""
    tls_client_certificate: Path | None = None
    """PEM file with the workers' certificate; None if they show none."""
    tls_client_key: Path | None = None
    """PEM file with the key of ``tls_client_certificate``."""
    web_listen: str = "127.0.0.1:8780"
    """``host:port`` that pages and API are served on; empty: ``arena up`` does not serve them."""
    web_url: str = ""
    """Address at which people reach the pages, as ``https://arena.example``; by default ``web_listen``."""
    web_certificate: Path | None = None
    """PEM file with the certificate of ``web_listen`` and the chain above it; None: no HTTPS."""
    web_key: Path | None = None
    """PEM file with the key of ``web_certificate``."""
    web_proxies: Annotated[tuple[str, ...], NoDecode] = ()
    """Addresses of the proxies whose ``X-Forwarded-For`` and ``-Proto`` are believed, separated by commas."""
    web_kept_seconds: float = Field(default=2, ge=0, le=60)
    """Seconds for which anonymous answers are reused, five times as long for bots and matches; 0 turns this
    off."""
    house_bots: int = Field(default=3, ge=0, le=8)
    """House bots that ``arena up`` runs, for test matches; 0: none. 8: also sage, at three speeds."""
    sign_up: Literal["invitation", "open"] = "invitation"
    """Who may create an account: whoever has an invitation, or everybody."""
    lease_seconds: float = Field(default=30, ge=1, le=86_400)
    """How long a match stays with a silent worker, and a message for it counts as being on its way."""
    worker_threads: int = Field(default=8, ge=1, le=1_000)
    """Matches that one worker runs at once."""
    beat_seconds: float = Field(default=5, ge=0.1, le=3_600)
    """How often every open tournament is advanced."""
    webhook_seconds: float = Field(default=5, ge=0.1, le=3_600)
    """Seconds after which a message to a webhook that could not be delivered is sent again; each further wait
    is four times as long. There are eight attempts in all."""
    webhook_addresses: Literal["public", "any"] = "public"
    """Where messages to webhooks may go: to public addresses, or also to this host and private networks."""
    webhook_key: SecretStr | None = None
    """Key with which webhooks' secrets are encrypted in the database; None for the worker token if that is
    set, else for a random key, stored in the data folder."""
    metrics_listen: str = ""
    """``host:port`` at which a process serves its metrics; empty for none. With ``arena up``, the first
    process listens there, and the others on the following ports."""
    log_format: Literal["text", "json"] = "text"
    """How processes log."""
    log_level: Literal["debug", "info", "warning"] = "info"
    """Lowest level that processes log; of libraries, they log only warnings and errors."""

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_control_characters(cls, value: object) -> object:
        if isinstance(value, str | Path) and (wrong := _control_in(str(value))):
            raise ValueError(wrong)
        return value

    @field_validator("data")
    @classmethod
    def _expand_folder(cls, data: Path) -> Path:
        return _absolute("data", data)

    @field_validator(*SECRETS, *TLS_FILES, mode="before")
    @classmethod
    def _none_if_empty(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator(*SECRETS)
    @classmethod
    def _check_secret(cls, secret: SecretStr | None) -> SecretStr | None:
        if secret is not None and (wrong := _wrong_with_secret(secret.get_secret_value())):
            raise ValueError(wrong)
        return secret

    @field_validator(*TLS_FILES)
    @classmethod
    def _expand_file(cls, file: Path | str | None, info: ValidationInfo) -> Path | str | None:
        return _absolute(str(info.field_name), file) if isinstance(file, Path) else file

    @field_validator("referees", "referee_ids", "web_proxies", mode="before")
    @classmethod
    def _split_list(cls, texts: object) -> object:
        if isinstance(texts, str):
            return tuple(text.strip() for text in texts.split(",") if text.strip())
        return texts

    @field_validator("referee_ids")
    @classmethod
    def _check_ids(cls, ids: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        referees = info.data.get("referees", ids)
        if ids and len(ids) != len(referees):
            raise ValueError(f"{len(ids)} names for {len(referees)} referees")
        for name in ids:
            if not ID.fullmatch(name):
                raise ValueError(f"{name!r} is not 1 to 64 letters, digits and any of . _ : -")
            if ids.count(name) > 1:
                raise ValueError(f"{name} is listed twice")
        return ids

    @field_validator("web_listen")
    @classmethod
    def _check_web_listen(cls, address: str) -> str:
        return check_address(address) if address else address

    @field_validator("web_url")
    @classmethod
    def _check_web_url(cls, url: str) -> str:
        if url and not re.fullmatch(r"https?://[^\s/'\"]+(/\S*)?", url):
            raise ValueError(f"{url!r} is not an address like https://arena.example")
        return url

    @field_validator("listen")
    @classmethod
    def _check_listen(cls, address: str) -> str:
        return check_address(address)

    @field_validator("metrics_listen")
    @classmethod
    def _check_metrics_listen(cls, address: str) -> str:
        if address and check_address(address) and split_address(address)[1] == 0:
            raise ValueError(f"{address}: port 0 means any port, and others have to know which")
        return address

    @field_validator("referees")
    @classmethod
    def _check_referees(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        for address in map(check_address, addresses):
            if address.rpartition(":")[0] in NO_PLACE:
                raise ValueError(f"{address} is not an address; set referees to what bots can reach")
            if addresses.count(address) > 1:
                raise ValueError(f"{address} is listed twice")
        return addresses

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, url: str) -> str:
        return check_database(url)

    @field_validator("broker_url")
    @classmethod
    def _check_broker_url(cls, url: str) -> str:
        return check_broker(url)

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, values: dict[str, object]) -> dict[str, object]:
        values["data"] = values.get("data") or DEFAULT_DATA
        data = _absolute("data", Path(str(values["data"])))
        sqlite = URL.create("sqlite", database=f"{data}/arena.db").render_as_string()
        values["database_url"] = values.get("database_url") or sqlite
        values["broker_url"] = values.get("broker_url") or f"filesystem://{quote(str(data))}/broker"
        web = str(values.get("web_listen", cls.model_fields["web_listen"].default))
        scheme = "https" if values.get("web_certificate") else "http"
        values["web_url"] = str(values.get("web_url") or (web and f"{scheme}://{web}")).rstrip("/")
        values["referees"] = values.get("referees") or _default_referees(
            str(values.get("listen") or cls.model_fields["listen"].default), values.get("local_referees") or 1
        )
        return values

    @model_validator(mode="after")
    def _require_tls_pairs(self) -> Self:
        for name, needs in TLS_NEEDS.items():
            if getattr(self, name) is not None and getattr(self, needs) is None:
                raise SettingsError(needs, f"not set, and {name} needs it")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Give arguments precedence over the environment, that over the file, and all over what a running
        ``arena up`` has written into the folder."""
        arguments, variables = init_settings(), env_settings()
        data = _absolute("data", Path(str(arguments.get("data") or variables.get("data") or DEFAULT_DATA)))
        written = _read_config(_config_file(data))
        left = found_in(data, {*arguments, *variables, *written})
        sources = (InitSettingsSource(settings_cls, values) for values in (written, left))
        return init_settings, env_settings, *sources

    @property
    def logs(self) -> Path:
        """Return the folder for the logs of the processes that ``arena up`` starts."""
        return self.data / "logs"

    @property
    def broker_folder(self) -> Path | None:
        """Return the folder of the broker's messages; None if the broker is a server."""
        url = urlsplit(self.broker_url)
        return Path(unquote(url.path)) if url.scheme == "filesystem" else None

    @property
    def embedded_database(self) -> bool:
        """Return whether the database is a file on this host."""
        return make_url(self.database_url).get_backend_name() == "sqlite"

    def prepare(self) -> Self:
        """Create the data folder, for this user alone; raise SettingsError if it cannot be written."""
        try:
            make_private(self.data)
            make_private(self.logs)
            with tempfile.TemporaryFile(dir=self.data):
                return self
        except OSError as error:
            raise SettingsError("data", f"cannot write in {self.data}: {error.strerror}") from None

    def worker_secret(self) -> str:
        """Return the token with which workers authenticate to referees; generate one if there is none."""
        if self.worker_token is not None:
            return self.worker_token.get_secret_value()
        return self._generated("worker-token", "worker token", "bt_worker_")

    def webhook_secret(self) -> str:
        """Return the secret with which webhooks' secrets are encrypted.

        This is the setting; else the worker token if that is set, since hosts share it; else a random secret
        in the data folder, which is generated if there is none.
        """
        key = self.webhook_key or self.worker_token
        return key.get_secret_value() if key else self._generated("webhook-key", "key of webhooks")

    def _generated(self, name: str, what: str, start: str = "") -> str:
        """Return a secret that is generated once and kept in a private file. Raise SettingsError."""
        file = self.data / name
        try:
            with suppress(FileNotFoundError):  # what is there can be read even on a full disk
                return _read_secret(file, what)
            self.prepare()
            with suppress(FileExistsError), tempfile.NamedTemporaryFile("w", dir=self.data) as draft:
                draft.write(f"{start}{secrets.token_urlsafe(32)}")
                draft.flush()
                os.link(draft.name, file)  # whole or not at all, and only the first of several processes
            return _read_secret(file, what)
        except OSError as error:
            raise SettingsError("data", f"cannot keep the {what} in {file}: {error.strerror}") from None

    def server_tls(self, address: str = "") -> ServerTls | None:
        """Return the certificates that a referee presents and requires; None means no TLS.

        They are read again when their files change. Raise SettingsError for an invalid file, and for a
        certificate that has expired, that is not for the referee's ``address`` (by default, for that of any
        referee), or that workers here would not trust.
        """
        if self.tls_certificate is None or self.tls_key is None:
            return None
        files = self._files("tls_certificate", "tls_key", "tls_client_ca")
        return from_files(files, lambda: self._read_server_tls(address))

    def _files(self, *names: str) -> list[Path]:
        """Return the files that are set."""
        return [file for name in names if isinstance(file := getattr(self, name), Path)]

    def _read_server_tls(self, address: str) -> ServerTls:
        assert self.tls_certificate is not None
        assert self.tls_key is not None
        certificate, key = read_pair(
            "tls_certificate", self.tls_certificate, "tls_key", self.tls_key, ssl.PROTOCOL_TLS_SERVER
        )
        authorities = read_authorities("tls_client_ca", self.tls_client_ca) if self.tls_client_ca else None
        rehearsal = Rehearsal(
            *("tls_certificate", self.tls_certificate, self.tls_key),
            *("tls_ca", None if self.tls_ca == "system" else self.tls_ca or self.tls_certificate),
            self.tls_client_ca,
            (self.tls_client_certificate, self.tls_client_key),
        )
        rehearsal.require([split_address(host)[0] for host in ([address] if address else self.referees)])
        return ServerTls(certificate, key, authorities)

    def check_web_tls(self) -> None:
        """Raise SettingsError for an invalid file of the pages' certificate, and if it has expired."""
        if self.web_certificate is None or self.web_key is None:
            return
        pair = ("web_certificate", self.web_certificate, "web_key", self.web_key)
        read_pair(*pair, ssl.PROTOCOL_TLS_SERVER)
        own = self.web_certificate
        Rehearsal("web_certificate", own, self.web_key, "web_certificate", own).require([None])

    @property
    def encrypted(self) -> bool:
        """Return whether referees are reached with TLS."""
        return any((self.tls_ca, self.tls_certificate, self.tls_client_certificate))

    def client_tls(self) -> ClientTls | None:
        """Return the TLS settings with which workers and commands reach a referee; None means no TLS.

        They are read again when their files change. Raise SettingsError for an invalid file, or if the
        referee requires a certificate and none is set.
        """
        if not self.encrypted:
            return None
        if self.tls_client_ca is not None and self.tls_client_certificate is None:
            raise SettingsError(
                "tls_client_certificate", "not set, and with tls_client_ca workers need a certificate too"
            )
        trusted = "tls_ca" if self.tls_ca else "tls_certificate"
        files = self._files(trusted, "tls_client_certificate", "tls_client_key")
        return from_files(files, self._read_client_tls)

    def _read_client_tls(self) -> ClientTls:
        trusted = self.tls_ca or self.tls_certificate
        authorities = None
        if isinstance(trusted, Path):
            authorities = read_authorities("tls_ca" if self.tls_ca else "tls_certificate", trusted)
        if self.tls_client_certificate is None or self.tls_client_key is None:
            return ClientTls(authorities)
        certificate, key = read_pair(
            "tls_client_certificate",
            self.tls_client_certificate,
            "tls_client_key",
            self.tls_client_key,
            ssl.PROTOCOL_TLS_CLIENT,
        )
        return ClientTls(authorities, certificate, key)

    def exposed(self) -> str | None:
        """Return what is wrong with the address that the referee listens on; None if nothing is.

        Without TLS, tokens and cards can be intercepted, so it should listen on this host only.
        """
        host, _ = split_address(self.listen)
        if self.tls_certificate is not None or host in ("localhost", "::1") or host.startswith("127."):
            return None
        return f"{self.listen} can be reached from other hosts, and without TLS, tokens can be intercepted"

    def environment(self) -> dict[str, str]:
        """Return the environment variables that give a child process these settings."""
        return {PREFIX + name.upper(): text for name, text in self._texts().items()}

    def served(self) -> dict[str, str]:
        """Return the settings by which local commands reach a running arena."""
        texts = self._texts()
        return {name: texts[name] for group in TOGETHER for name in group}

    def shown(self) -> dict[str, str]:
        """Return every setting as text for people, without secrets."""
        texts = self._texts()
        for name in ("database_url", "broker_url"):
            texts[name] = without_secrets(texts[name])
        for name in SECRETS:
            texts[name] = "**********" if getattr(self, name) else "(kept in the data folder)"
        if self.worker_token and not self.webhook_key:
            texts["webhook_key"] = "(the worker token)"
        return texts

    def _texts(self) -> dict[str, str]:
        values = {name: getattr(self, name) for name in type(self).model_fields}
        secrets = {name: getattr(self, name) for name in SECRETS}
        return {name: "" if value is None else str(value) for name, value in values.items()} | {
            "referees": ",".join(self.referees),
            "referee_ids": ",".join(self.referee_ids),
            "web_proxies": ",".join(self.web_proxies),
            **{name: value.get_secret_value() if value else "" for name, value in secrets.items()},
        }


def _control_in(text: str) -> str:
    """Return which control character a setting contains, in words; empty if it contains none."""
    sign = CONTROL.search(text)
    if sign is None:
        return ""
    ends = ": does its file have the line ends of Windows?" if sign[0] == "\r" else ""
    return f"contains the control character {sign[0]!r}{ends}"


def _wrong_with_secret(secret: str) -> str:
    """Return what is wrong with a worker token or a key; empty if nothing is."""
    if len(secret) < SHORTEST_TOKEN:
        return f"too short: it must have at least {SHORTEST_TOKEN} random characters"
    return wrong_with(secret)


def _read_secret(file: Path, what: str) -> str:
    """Return the secret in a file. Raise OSError, and SettingsError if it is none."""
    secret = tidy(file.read_text("utf-8", errors="replace"))
    if wrong := _wrong_with_secret(secret):
        raise SettingsError("data", f"{file} holds no {what} ({wrong}); delete it for a new one")
    return secret


def _default_referees(listen: str, count: object) -> str:
    """Return the addresses of the local referees; only ``listen`` if a value is wrong and refused later."""
    host, _, port = listen.rpartition(":")
    right = is_number(str(count), 2) and host and is_number(port, 5)
    return ",".join(local_addresses(listen, int(str(count)))) if right else listen


def _absolute(name: str, path: Path) -> Path:
    """Return a path made absolute, with ``~`` expanded.

    Raise SettingsError if it cannot be a path.
    """
    try:
        absolute = os.path.abspath(path.expanduser())
    except RuntimeError:
        raise SettingsError(name, f"{path}: home folder not found") from None
    if wrong := _control_in(absolute):
        raise SettingsError(name, wrong)
    try:
        absolute.encode()
    except UnicodeEncodeError:
        raise SettingsError(
            name, f"{absolute} is not valid UTF-8; with the locale C, set PYTHONUTF8=1"
        ) from None
    return Path(absolute)


def _config_file(data: Path) -> Path:
    named = os.environ.get(CONFIG)
    if named and not Path(named).is_file():
        raise SettingsError(CONFIG, f"{named} does not exist")
    return Path(named) if named else data / "arena.toml"


def _read_config(file: Path) -> dict[str, object]:
    try:
        return read_toml(file) if file.is_file() else {}
    except TomlError as error:
        raise SettingsError(CONFIG, str(error)) from None


def load_settings(overrides: Mapping[str, object] | None = None) -> Settings:
    """Load the settings; ``overrides`` take precedence over the environment.

    Raise SettingsError, which names the settings that are wrong, or the variables that they come from.
    """
    values = overrides or {}
    try:
        return Settings(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        # What depends on a wrong setting is wrong for the same reason, and is not reported again.
        by_reason = {problem.reason: problem for problem in reversed([*map(_problem, error.errors())])}
        problems = [each._replace(field=_origin(each.field, values)) for each in reversed(by_reason.values())]
        raise SettingsError.of(problems) from None
    except OSError as error:
        raise SettingsError(CONFIG, f"cannot read {error.filename}: {error.strerror}") from None


def _origin(name: str, values: Mapping[str, object]) -> str:
    """Return the variable that a setting comes from, else its name."""
    variable = f"{PREFIX}{name.upper()}"
    return variable if variable in os.environ and name not in values else name


def _problem(error: "ErrorDetails") -> Problem:
    name = ".".join(map(str, error["loc"])) or "settings"
    match error["type"]:
        case "extra_forbidden":
            return Problem(name, f"no such setting{suggestion(name, [*Settings.model_fields])}")
        case "path_type":
            return Problem(name, f"must be the path of a file or folder, not {short(error['input'])}")
        case _:
            text = error["msg"].removeprefix("Value error, ").replace("Input should be ", "must be ")
            return Problem(name, text.partition(", unable to parse")[0])
