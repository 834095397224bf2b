"""An arena's application, called without a socket, and clients with different permissions."""

from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.actors import KeyScope, Role
from arena.host.settings import Settings
from arena.people import accounts, apikeys, browsers
from arena.store.storage import Storage
from arena.web.app import make_app
from arena.web.routing import PREFIX
from tests.arena.fakes import ROOT, Clock

PASSWORD = "correct horse battery"

Ask = Callable[..., TestClient]


@pytest.fixture
def app(migrated: Settings, storage: Storage, clock: Clock) -> FastAPI:
    """Return the application of an empty arena where everybody may sign up."""
    settings = migrated.model_copy(update={"sign_up": "open"})
    return make_app(settings, storage, clock=clock, timer=lambda: clock().timestamp())


@pytest.fixture
def anybody(app: FastAPI) -> Iterator[TestClient]:
    """Return an anonymous client; paths begin after ``/api/v1``."""
    with TestClient(app, base_url=f"https://arena.test{PREFIX}", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def client_of(app: FastAPI, storage: Storage, clock: Clock) -> Ask:
    """Return a function that makes a client for an account, with a key for all scopes or for some."""

    def make(name: str, role: Role = Role.AUTHOR, scopes: tuple[str, ...] = tuple(KeyScope)) -> TestClient:
        accounts.create_account(storage, ROOT, name, role, clock(), PASSWORD)
        _, actor = browsers.sign_in(storage, name, PASSWORD, clock())
        key = apikeys.create_key(storage, actor, "test", scopes, clock()).key
        headers = {"Authorization": f"Bearer {key}"}
        url = f"https://arena.test{PREFIX}"
        return TestClient(app, base_url=url, headers=headers, raise_server_exceptions=False)

    return make
