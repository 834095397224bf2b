"""The arena's settings: from ``ARENA_*`` variables, else from a TOML file, else the defaults.

The file is the one that ``ARENA_CONFIG`` names, or ``arena.toml`` in the data folder.
"""

import os
import secrets
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Self

from kombu.transport import TRANSPORT_ALIASES
from kombu.utils.url import maybe_sanitize_url
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from arena.errors import SettingsError

PREFIX = "ARENA_"
CONFIG = "ARENA_CONFIG"
"""The variable that names the TOML file; not a setting itself."""

DEFAULT_DATA = Path(".arena")


class Settings(BaseSettings):
    """What can be set; every value is ready for use (paths absolute, defaults filled in)."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    data: Path = DEFAULT_DATA
    """Folder of everything that the arena keeps on this host: database, broker, logs, worker token."""
    database_url: str = ""
    """SQLAlchemy URL; by default a SQLite file in the data folder."""
    broker_url: str = ""
    """Celery broker; by default ``filesystem://`` and a folder in the data folder."""
    listen: str = "127.0.0.1:8710"
    """``host:port`` that the referee listens on."""
    referees: Annotated[tuple[str, ...], NoDecode] = ()
    """Addresses at which workers reach referees, separated by commas; by default ``listen``."""
    worker_token: SecretStr | None = None
    """What workers show to referees; None: a random one that is kept in the data folder."""
    lease_seconds: float = Field(default=30, gt=0)
    """How long a match stays with a silent worker, and a message for it is thought to be on its way."""
    worker_threads: int = Field(default=8, ge=1)
    """Matches that one worker runs at once."""
    beat_seconds: float = Field(default=5, gt=0)
    """How often every open tournament is looked at."""

    @field_validator("data")
    @classmethod
    def _absolute(cls, data: Path) -> Path:
        return Path(os.path.abspath(data.expanduser()))

    @field_validator("referees", mode="before")
    @classmethod
    def _split(cls, addresses: object) -> object:
        if isinstance(addresses, str):
            return tuple(text.strip() for text in addresses.split(",") if text.strip())
        return addresses

    @field_validator("listen")
    @classmethod
    def _is_address(cls, address: str) -> str:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"{address!r} is not host:port")
        return address

    @field_validator("referees")
    @classmethod
    def _are_addresses(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(cls._is_address, addresses))

    @field_validator("database_url")
    @classmethod
    def _is_database(cls, url: str) -> str:
        try:
            parts = make_url(url)
        except (ArgumentError, ValueError):
            raise ValueError("not a database URL (sqlite:///file, postgresql://user@host/name)") from None
        if parts.get_backend_name() == "sqlite" and parts.database in (None, "", ":memory:"):
            raise ValueError("SQLite needs a file (sqlite:///file): several processes share the database")
        return url

    @field_validator("broker_url")
    @classmethod
    def _is_broker(cls, url: str) -> str:
        scheme, mark, _ = url.partition("://")
        if url and (not mark or scheme not in TRANSPORT_ALIASES):
            raise ValueError("not a broker URL (filesystem:///folder, redis://host/0, amqp://host)")
        return url

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: dict[str, object]) -> dict[str, object]:
        data = os.path.abspath(Path(str(values.get("data") or DEFAULT_DATA)).expanduser())
        values["database_url"] = values.get("database_url") or f"sqlite:///{data}/arena.db"
        values["broker_url"] = values.get("broker_url") or f"filesystem://{data}/broker"
        values["referees"] = (
            values.get("referees") or values.get("listen") or cls.model_fields["listen"].default
        )
        return values

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given in a call comes before the environment, and that before the file."""
        data = init_settings().get("data") or env_settings().get("data") or DEFAULT_DATA
        file = TomlConfigSettingsSource(settings_cls, _config_file(Path(str(data)).expanduser()))
        return init_settings, env_settings, file

    @property
    def logs(self) -> Path:
        """Folder of the logs of the processes that ``arena up`` starts."""
        return self.data / "logs"

    def prepare(self) -> Self:
        """Make the data folder; SettingsError if it cannot be written."""
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.data):
                return self
        except OSError as error:
            raise SettingsError("data", f"cannot write in {self.data}: {error.strerror}") from None

    def worker_secret(self) -> str:
        """The token that workers show to referees; the first that asks draws the one in the data folder."""
        if self.worker_token is not None:
            return self.worker_token.get_secret_value()
        file = self.prepare().data / "worker-token"
        with suppress(FileExistsError), tempfile.NamedTemporaryFile("w", dir=self.data) as draft:
            draft.write(f"bt_worker_{secrets.token_urlsafe(32)}")
            draft.flush()
            os.link(draft.name, file)  # whole or not at all, and only the first of several processes
        return file.read_text()

    def environment(self) -> dict[str, str]:
        """Variables that give a child process these settings."""
        return {PREFIX + name.upper(): text for name, text in self._texts().items() if text}

    def shown(self) -> dict[str, str]:
        """Every setting as text for people, without its secrets."""
        texts = self._texts()
        texts["database_url"] = make_url(self.database_url).render_as_string(hide_password=True)
        texts["broker_url"] = maybe_sanitize_url(self.broker_url)
        texts["worker_token"] = "**********" if self.worker_token else "(kept in the data folder)"
        return texts

    def _texts(self) -> dict[str, str]:
        values = {name: getattr(self, name) for name in type(self).model_fields}
        token = self.worker_token.get_secret_value() if self.worker_token else ""
        return {name: str(value) for name, value in values.items()} | {
            "referees": ",".join(self.referees),
            "worker_token": token,
        }


def _config_file(data: Path) -> Path:
    named = os.environ.get(CONFIG)
    if named and not Path(named).is_file():
        raise SettingsError(CONFIG, f"no file {named}")
    return Path(named) if named else data / "arena.toml"


def load_settings(overrides: Mapping[str, object] | None = None) -> Settings:
    """The settings; ``overrides`` come before the environment. SettingsError names what is wrong."""
    try:
        return Settings(**(overrides or {}))  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        reason = "no such setting" if first["type"] == "extra_forbidden" else first["msg"]
        raise SettingsError(name, reason.removeprefix("Value error, ")) from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(CONFIG, f"the settings file is not TOML: {error}") from None
    except OSError as error:
        raise SettingsError(CONFIG, f"cannot read {error.filename}: {error.strerror}") from None
