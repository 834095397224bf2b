"""Ids past 2,147,483,647, where 32 bits end: an arena on PostgreSQL goes on playing and answering."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from sqlmodel import func, select

from arena.actors import KeyScope, Role
from arena.host.settings import Settings, load_settings
from arena.people import accounts, apikeys, browsers
from arena.queries.histories import HistoryQuery, history
from arena.queries.matches import MatchQuery, find_matches
from arena.results.ratings.rebuild import rebuild
from arena.store.models import Match, Meeting, utc_now
from arena.store.storage import Storage, open_storage
from arena.trust.exports.write import export_lines
from arena.trust.verify import check_export
from arena.web.app import make_app
from arena.web.routing import PREFIX
from tests.arena.everywhere import connect_all, fill
from tests.arena.fakes import ROOT, Clock
from tests.arena.given_keys import give_arena_key
from tests.arena.servers import Postgres
from tests.arena.test_query_plans import BOT, QUESTIONS
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.permissions import ROUTES
from tests.arena.web.test_roles import NOT_TRIED, unlimited
from tests.arena.world import World

PAST = 2**31
"""The first number that 32 bits cannot hold."""

SEQUENCES = "SELECT schemaname || '.' || sequencename FROM pg_sequences"


def move_sequences(storage: Storage) -> None:
    """Let each sequence go on past 32 bits, each with other numbers."""
    with storage.write() as tx:
        for place, sequence in enumerate(tx.connection().execute(text(SEQUENCES)).scalars().all()):
            moved = {"sequence": sequence, "id": PAST + 1_000_000 * place}
            tx.connection().execute(text("SELECT setval(:sequence, :id)"), moved)


def answers_over_http(storage: Storage, settings: Settings) -> dict[str, int]:
    """Ask for everything that can be read, as an operator; return the status of each answer."""
    accounts.create_account(storage, ROOT, "root", Role.OPERATOR, utc_now(), PASSWORD)
    _, actor = browsers.sign_in(storage, "root", PASSWORD, utc_now())
    key = apikeys.create_key(storage, actor, "all", [*KeyScope], utc_now()).key
    with TestClient(make_app(settings, storage), base_url="https://arena.test") as client:
        return {
            name: client.get(PREFIX + line.path, headers={"Authorization": f"Bearer {key}"}).status_code
            for name, line in ROUTES.items()
            if name.startswith("GET ") and name not in NOT_TRIED
        }


def test_arena_when_all_ids_are_past_32_bits_then_it_plays_and_answers(
    tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlimited(monkeypatch)
    connect_all(monkeypatch)
    url = postgres.create_migrated("ids")
    settings = load_settings({"data": tmp_path / "data", "database_url": url})
    give_arena_key(settings)
    with open_storage(settings) as storage:
        move_sequences(storage)
        fill(storage, settings, tmp_path)
        with storage.read() as tx:
            assert tx.exec(select(func.min(Match.id))).one() > PAST
            assert tx.exec(select(func.min(Meeting.last_match_id))).one() > PAST
        for question in QUESTIONS.values():
            question(World(storage, Clock()))
        query = HistoryQuery(BOT)
        pages = [history(storage, query, 1)]
        while pages[-1].next is not None:
            pages.append(history(storage, query, 1, pages[-1].next))
        assert [line for page in pages for line in page.history] == [*history(storage, query).history]
        first = find_matches(storage, MatchQuery(BOT), 1)
        assert find_matches(storage, MatchQuery(BOT), 1, first.next).matches
        assert rebuild(storage).problem is None
        assert check_export(line.encode() for line in export_lines(storage, "cup")).problem is None
        answers = answers_over_http(storage, settings)
    assert set(answers.values()) <= {200, 404, 409}, answers
    assert sum(status == 200 for status in answers.values()) > len(answers) / 2
