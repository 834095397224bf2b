"""Every route with every caller and every key: those who may use it are those in the table."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlmodel import col, func, select, update

from arena.actors import Actor, KeyScope, Role
from arena.bots import versions
from arena.bots.checks import store_check
from arena.core.specs import make_spec
from arena.host.settings import Settings, load_settings
from arena.leagues import membership
from arena.people import accounts, apikeys, browsers, invitations
from arena.results.strength.pools import add_baselines
from arena.store.models import AuditEntry, BotVersion, League, Tournament, utc_now
from arena.store.storage import Storage, changed, open_storage
from arena.tournaments import creation
from arena.tournaments.overview import ENDED
from arena.web import limits
from arena.web.app import make_app
from arena.web.feeds import Feeds
from arena.web.pages.routers import ROUTERS
from arena.web.readings import Readings
from arena.web.routing import PREFIX
from arena.webhooks import hooks
from tests.arena.everywhere import connect_all
from tests.arena.fakes import ROOT
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.permissions import (
    BACKUP,
    CHECK,
    FORMS,
    FORMS_OF_ALL,
    PAGES,
    ROUTES,
    SPEC,
    Caller,
    Line,
)

ROLES = {
    Caller.AUTHOR: Role.AUTHOR,
    Caller.STRANGER: Role.AUTHOR,
    Caller.OTHER: Role.ORGANISER,
    Caller.ORGANISER: Role.ORGANISER,
    Caller.OPERATOR: Role.OPERATOR,
}


LESS = "-operate"
"""The key with all scopes but ``operate``; there is one without each scope."""


class Arena:
    """An arena in which everybody has something, and which is restored after each change."""

    def __init__(self, folder: Path) -> None:
        self.leaks: list[str] = []
        """Secrets that were seen, with where they were."""
        self._folder = folder
        self._open = ExitStack()
        self._settings = load_settings({"data": folder / "data", "sign_up": "open"})
        self.keys: dict[Caller, dict[str, str]] = {Caller.ANYBODY: {"": ""}}
        with open_storage(self._settings) as storage:
            for caller in ROLES:
                self.keys[caller] = _account(storage, caller)
            self.codes = _belongings(storage, self._settings)
            self._secrets = _secrets(storage)
            self.app = make_app(self._settings, storage)
        shutil.copy(folder / "data" / "arena.db", folder / "first.db")
        self.client = TestClient(self.app, base_url="https://arena.test", raise_server_exceptions=False)
        self.restore()

    def restore(self) -> None:
        """Restore the initial state."""
        self.close()
        for file in (self._folder / "data").glob("arena.db*"):
            file.unlink()
        shutil.copy(self._folder / "first.db", self._folder / "data" / "arena.db")
        storage = self._open.enter_context(open_storage(self._settings))
        # The application stays, since making one takes longer than most requests.
        self.app.state.web = replace(
            self.app.state.web, storage=storage, feeds=Feeds(storage), readings=Readings(storage)
        )

    def close(self) -> None:
        """Close what is open."""
        self._open.close()

    def changes(self) -> int:
        """Return how many changes are noted in the audit."""
        with self.app.state.web.storage.read() as tx:
            count: int = tx.exec(select(func.count()).select_from(AuditEntry)).one()
            return count

    def body_of(self, line: Line) -> object:
        """Return the body of a call, with the codes that this arena made."""
        if not isinstance(line.body, dict):
            return line.body
        codes = self.codes
        return {name: codes.get(one, one) if type(one) is str else one for name, one in line.body.items()}

    def ask(
        self, method: str, line: Line, caller: Caller, scopes: str = "", prefix: str = PREFIX
    ) -> Response:
        """Call a route as this caller, with a key for all scopes or for one."""
        body = self.body_of(line)
        key = self.keys[caller][scopes]
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = self.client.request(method, prefix + line.path, json=body, headers=headers)
        self.client.cookies.clear()
        if method == "GET" and line.path != BACKUP:  # which holds everything
            self.leaks += [
                f"{what} in {line.path}" for secret, what in self._secrets if secret in answer.text
            ]
        return answer


def _account(storage: Storage, caller: Caller) -> dict[str, str]:
    """Create an account; return its keys by scope, those without one, and one for all under an empty text."""
    accounts.create_account(storage, ROOT, caller, ROLES[caller], utc_now(), PASSWORD)
    _, actor = browsers.sign_in(storage, caller, PASSWORD, utc_now())
    _key(storage, actor, "spare", *KeyScope)
    keys = {"": _key(storage, actor, "all", *KeyScope)}
    keys |= {f"-{scope}": _key(storage, actor, f"no-{scope}", *set(KeyScope) - {scope}) for scope in KeyScope}
    return keys | {scope: _key(storage, actor, scope, scope) for scope in KeyScope}


def _key(storage: Storage, actor: Actor, name: str, *scopes: KeyScope) -> str:
    return apikeys.create_key(storage, actor, name, scopes, utc_now()).key


def _belongings(storage: Storage, settings: Settings) -> dict[str, str]:
    """Give everybody something; return codes by what stands for them in bodies.

    They are of an invitation to a new owner, ``late``, and of a link to set a password anew.
    """
    now = utc_now()
    accounts.create_account(storage, ROOT, "friend", Role.AUTHOR, now, PASSWORD)
    _, friend = browsers.sign_in(storage, "friend", PASSWORD, now)
    _, author = browsers.sign_in(storage, Caller.AUTHOR, PASSWORD, now)
    code = invitations.invite(storage, author, Role.AUTHOR, now, str(Caller.AUTHOR)).code
    invitations.join_owner(storage, friend, code, now)
    versions.register_version(storage, ROOT, "owner-0/spare", now)
    add_baselines(storage, ROOT, ["owner-2/bot-2"], now)
    store_check(storage, ROOT, "owner-0/bot-0@1", CHECK, True, now)
    membership.join(storage, ROOT, "winter", "owner-0/spare", now)
    organisers = {}
    for caller in (Caller.ORGANISER, Caller.OTHER):
        _, organisers[caller] = browsers.sign_in(storage, caller, PASSWORD, now)
    with storage.write() as tx:
        for table in (Tournament, League):
            mine = update(table).values(organiser_id=organisers[Caller.ORGANISER].account_id)
            changed(tx, mine)
    _, operator = browsers.sign_in(storage, Caller.OPERATOR, PASSWORD, now)
    for actor in (*organisers.values(), operator):
        hooks.add_webhook(storage, actor, settings, "told", "https://example.org/hook", (), now)
    creation.create(storage, organisers[Caller.OTHER], make_spec(SPEC | {"name": "others"}), now)
    return {
        "{invitation}": invitations.invite(storage, ROOT, Role.AUTHOR, now, "late").code,
        "{code}": accounts.offer_reset(storage, ROOT, "friend", now, "").code,
    }


def _secrets(storage: Storage) -> list[tuple[str, str]]:
    """Return secrets, which not even an operator may read, each with a description."""
    with storage.read() as tx:
        going_on = select(Tournament).where(col(Tournament.state).not_in(ENDED))
        seeds = [(one.seed, f"the seed of {one.name}") for one in tx.exec(going_on)]
        hashes = [(one, "the hash of a token") for one in tx.exec(select(BotVersion.token_hash))]
    assert seeds
    return seeds + hashes


def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everybody ask as often as necessary."""
    for name in ("READS", "CHANGES", "SIGN_INS"):
        monkeypatch.setattr(limits, name, limits.Rate(name, 100_000))


@pytest.fixture
def arena(everything: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Arena]:
    """Make an arena in which everybody has something."""
    unlimited(monkeypatch)
    connect_all(monkeypatch)
    arena = Arena(everything)
    with arena.client:
        yield arena
    arena.close()


def routes_of(app: FastAPI) -> list[str]:
    """Return all routes that are tried, named as in the table."""
    paths = app.openapi()["paths"]
    found = [
        f"{method.upper()} {path.removeprefix(PREFIX)}"
        for path, methods in paths.items()
        for method in methods
    ]
    return [name for name in found if name not in NOT_TRIED]


def wrong_in(answer: Response, wanted: bool) -> str:
    """Return what is wrong with an answer, or an empty text."""
    if wanted:
        return "" if answer.status_code < 400 else f"{answer.status_code} {answer.text}"
    return "" if answer.status_code in (401, 403) else f"{answer.status_code}, though it may not"


def test_route_when_a_key_has_one_scope_then_it_is_good_only_for_routes_of_that(arena: Arena) -> None:
    wrong = []
    for name in routes_of(arena.app):
        method, line = name.split()[0], ROUTES[name]
        for scope in telling_scopes(line):
            answer = arena.ask(method, line, _least(line), scope)
            if said := wrong_in(answer, line.needs <= {scope}):
                wrong.append(f"{name} with {scope}: {said}")
            if method != "GET" and answer.status_code < 400:
                arena.restore()
    assert wrong == []


def telling_scopes(line: Line) -> list[KeyScope]:
    """Return the scopes that are tried: all where any is needed, and else one."""
    return [*KeyScope][: None if line.needs else 1]


def _least(line: Line) -> Caller:
    """Return the caller with the fewest permissions who may use a route and has keys."""
    return next(one for one in Caller if one in line.who and one is not Caller.ANYBODY)


def test_route_when_an_operators_key_lacks_operate_then_it_may_what_an_organiser_may(arena: Arena) -> None:
    wrong = []
    for name in routes_of(arena.app):
        method, line = name.split()[0], ROUTES[name]
        answer = arena.ask(method, line, Caller.OPERATOR, LESS)
        if said := wrong_in(answer, Caller.OTHER in line.who):
            wrong.append(f"{name}: {said}")
        if method != "GET" and answer.status_code < 400:
            arena.restore()
    assert wrong == []


def test_page_when_a_key_has_one_scope_then_it_is_good_only_for_pages_of_that(arena: Arena) -> None:
    wrong = []
    for name, line in PAGES.items():
        for scope in telling_scopes(line):
            answer = arena.ask("GET", line, _least(line), scope, prefix="")
            if said := wrong_in(answer, line.needs <= {scope}):
                wrong.append(f"{name} with {scope}: {said}")
    assert wrong == []


def test_form_when_a_key_has_one_scope_then_it_is_good_only_for_forms_of_that(arena: Arena) -> None:
    wrong = []
    for path, (caller, wanted) in FORMS.items():
        for scope in KeyScope:
            answer = arena.client.post(
                path.format(**PARTS),
                data={"name": "x", "owner": "owner-0", "bot": "owner-0/spare"},
                headers={"Authorization": f"Bearer {arena.keys[caller][scope]}"},
                follow_redirects=False,
            )
            if (answer.status_code in (401, 403)) is (scope is wanted):
                wrong.append(f"{path} with {scope}: {answer.status_code}")
    assert wrong == []


def test_table_when_it_is_read_then_it_has_every_route(app: FastAPI) -> None:
    assert [name for name in routes_of(app) if name not in ROUTES] == []


def pages() -> list[str]:
    """Return all pages, named as in their table."""
    return [
        f"{method} {route.path}"
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]


def test_page_when_anybody_reads_it_then_only_those_may_that_the_table_names(arena: Arena) -> None:
    wrong = []
    for name, line in PAGES.items():
        for caller in Caller:
            answer = arena.ask(name.split()[0], line, caller, prefix="")
            if said := wrong_in(answer, caller in line.who):
                wrong.append(f"{name} by {caller.name}: {said}")
    assert (wrong, arena.leaks) == ([], [])


def test_table_of_pages_when_it_is_read_then_it_has_every_page() -> None:
    assert {name for name in pages() if name.startswith("GET ")} - PAGES.keys() == NOT_TRIED


NOT_TRIED = {"GET /tournaments/{tournament}/rounds/{round}/sessions/{session}/deals/{deal}"}
"""Only duplicate tournaments have these, and there are none; other tests read both the page and the API."""

PARTS = {
    "owner": "owner-0",
    "bot": "bot-0",
    "tournament": "waiting",
    "league": "winter",
    **dict.fromkeys(("round", "table", "session", "deal"), "1"),
    "name": "spare",
    "number": "1",
    "account": "friend",
}


def test_form_when_nobody_is_signed_in_then_it_is_refused(arena: Arena) -> None:
    forms = {name.removeprefix("POST ") for name in pages() if name.startswith("POST ")}
    assert forms == FORMS_OF_ALL | FORMS.keys()
    found = {}
    for path in FORMS:
        found[path] = arena.client.post(path.format(**PARTS), data={"name": "x"}).status_code
    assert found == dict.fromkeys(found, 401)
