"""An arena with data of every kind, served on a socket."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.actors import KeyScope, Role
from arena.host.settings import load_settings
from arena.people import accounts, apikeys, browsers
from arena.store.models import utc_now
from arena.store.storage import Storage, open_storage
from arena.web.app import make_app
from tests.arena.everywhere import all_connected
from tests.arena.fakes import ROOT
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.served import served, url_of


class Remote(NamedTuple):
    """A served arena."""

    url: str
    key: str
    """An operator's key, with all scopes."""
    folder: Path
    """The folder that ``make_everything`` filled."""
    storage: Storage


@pytest.fixture(scope="module")
def remote(everything_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """Serve an arena with data of every kind; the tests of a module share it."""
    folder = shutil.copytree(everything_once, tmp_path_factory.mktemp("remote") / "everything")
    settings = load_settings({"data": folder / "data"})
    with open_storage(settings) as storage:
        key = make_key(storage, "root", Role.OPERATOR)
        app = make_app(settings, storage)
        app.state.web = replace(app.state.web, ask=all_connected)
        with served(app) as server:
            yield Remote(url_of(server), key, folder, storage)


def make_key(
    storage: Storage, name: str, role: Role = Role.AUTHOR, scopes: tuple[str, ...] = tuple(KeyScope)
) -> str:
    """Create an account, and return a key for it."""
    accounts.create_account(storage, ROOT, name, role, utc_now(), PASSWORD)
    _, actor = browsers.sign_in(storage, name, PASSWORD, utc_now())
    return apikeys.create_key(storage, actor, "test", scopes, utc_now()).key
