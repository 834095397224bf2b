"""Keys of arenas on the network, stored in a file that only their user can read."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from arena.errors import SpecError, StorageError
from arena.host.files import make_private, open_to_others, written_path
from referee.reading.names import tidy, wrong_with

FILE = "logins.json"


@dataclass(frozen=True, slots=True)
class Login:
    """A stored key."""

    account: str
    """The account that it belongs to."""
    key: str
    name: str = ""
    """Its name, if `arena login` created it; empty if the user supplied it."""


class Logins:
    """The keys stored in a folder, by the address of their arena."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE

    def find(self, address: str) -> Login | None:
        """Return the key for an arena; None if there is none. Raise StorageError."""
        return self._read_file().get(address)

    def keep(self, address: str, login: Login) -> None:
        """Store the key for an arena in place of an earlier one. Raise StorageError."""
        self._write({**self._read_file(), address: login})

    def forget(self, address: str) -> None:
        """Delete the key for an arena, if there is one. Raise StorageError."""
        logins = self._read_file()
        if logins.pop(address, None) is not None:
            self._write(logins)

    def _read_file(self) -> dict[str, Login]:
        try:
            if open_to_others(self.file):
                raise StorageError(f"others may read {self.file}; make it yours alone: chmod 600 {self.file}")
            content = json.loads(self.file.read_text(encoding="utf-8"))
            return {str(address): Login(**login) for address, login in content.items()}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(f"cannot read {self.file}: {error.strerror}") from None
        except (ValueError, TypeError, AttributeError):
            raise StorageError(f"{self.file} is not what this version writes; remove it") from None

    def _write(self, logins: Mapping[str, Login]) -> None:
        try:
            make_private(self.file.parent)
            text = json.dumps({address: asdict(login) for address, login in logins.items()}, indent=2)
            file = written_path(self.file)  # of those who keep their settings elsewhere, a link leads there
            with NamedTemporaryFile("w", dir=file.parent, prefix=f".{FILE}.", delete=False) as part:
                try:  # it is made for its user alone
                    part.write(f"{text}\n")
                    part.close()
                    os.replace(part.name, file)
                except OSError:
                    os.unlink(part.name)
                    raise
        except OSError as error:
            raise StorageError(f"cannot write {self.file}: {error.strerror}") from None


def own_logins() -> Logins:
    """Return the keys of the user who runs this process."""
    config_home = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(config_home) if os.path.isabs(config_home) else Path("~/.config").expanduser()
    return Logins(folder / "bigtwo-arena")


def check_key(text: str) -> str:
    """Return a key that was typed or read, without surrounding space. Raise SpecError if it cannot be one."""
    key = tidy(text)
    if wrong := wrong_with(key) if key else "is empty":
        raise SpecError("key", f"{wrong}; one begins with bt_key_")
    return key
