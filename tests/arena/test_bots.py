"""Owners, bots, their versions and their tokens."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlmodel import select

from arena.actors import Actor, Role
from arena.bots import versions
from arena.bots.bulk import NewBot, register_all
from arena.errors import SpecError, StateError, UnknownError
from arena.people.tokens import DatabaseAuthenticator, hash_token, new_token
from arena.store.models import Bot, BotVersion, Owner
from arena.store.storage import Storage
from referee.matches.auth import BotIdentity, Scope
from tests.arena.fakes import ROOT, Clock, listed_versions

NOW = Clock()()


def test_version_when_registered_again_then_it_has_the_next_number(storage: Storage) -> None:
    names = [
        versions.register_version(storage, ROOT, bot, NOW).bot for bot in ("ann/a", "ann/a", "ann/b", "bob/a")
    ]
    assert names == ["ann/a@1", "ann/a@2", "ann/b@1", "bob/a@1"]
    assert [version.bot for version in listed_versions(storage)] == names
    assert [version.bot for version in listed_versions(storage, "bob")] == ["bob/a@1"]


def test_versions_when_many_are_registered_at_once_then_all_have_their_own_number(storage: Storage) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: versions.register_version(storage, ROOT, "ann/a", NOW).bot, range(12))
        assert sorted(found) == sorted(f"ann/a@{number}" for number in range(1, 13))


def test_versions_when_an_account_manages_too_many_then_it_has_to_revoke_some_first(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "MOST_VERSIONS", 3)
    ann = Actor(Role.ORGANISER, "ann", frozenset({"ann", "team"}), 1)
    for bot in ("ann/a", "ann/a", "team/b"):
        versions.register_version(storage, ann, bot, NOW)
    full = "ann has 3 bot versions with valid tokens, and may have 3; revoke"
    with pytest.raises(StateError, match=full):
        versions.register_version(storage, ann, "team/c", NOW)
    with pytest.raises(StateError, match=full):
        register_all(storage, ann, [NewBot(bot="ann/new")], NOW)
    versions.rotate_version(storage, ann, "ann/a", NOW)
    versions.revoke_version(storage, ann, "ann/a@1", NOW)
    versions.register_version(storage, ann, "team/c", NOW, expires_in=1)
    later = NOW + timedelta(days=1)
    versions.register_version(storage, ann, "team/d", later)
    with pytest.raises(StateError, match=full):
        versions.rotate_version(storage, ann, "team/c", later)
    assert versions.register_version(storage, ROOT, "ann/a", later).bot == "ann/a@3"


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("ann", "bot"),
        ("Ann/a", "owner"),
        ("ann/", "bot"),
        ("/a", "owner"),
        ("ann/a@1", "bot"),
        ("ann/a/b", "bot"),
    ],
)
def test_bot_when_its_name_is_none_then_nothing_is_registered(
    storage: Storage, name: str, field: str
) -> None:
    with pytest.raises(SpecError, match=f"^{field}: .* is not a name"):
        versions.register_version(storage, ROOT, name, NOW)
    assert listed_versions(storage) == []


def test_list_when_the_owner_is_unknown_then_that_is_said(storage: Storage) -> None:
    with pytest.raises(UnknownError, match="no owner 'ann'"):
        listed_versions(storage, "ann")


def test_token_when_stored_then_only_its_hash_is(storage: Storage) -> None:
    token = versions.register_version(storage, ROOT, "ann/a", NOW).token
    assert token.startswith("bt_bot_")
    with storage.read() as tx:
        row = tx.exec(select(BotVersion)).one()
    assert row.token_hash == hash_token(token)
    assert token not in str(row)


def test_token_when_new_then_it_is_another_one() -> None:
    assert len({new_token() for _ in range(100)}) == 100


def test_authenticator_when_asked_then_it_knows_bots_and_workers(storage: Storage) -> None:
    registered = versions.register_version(storage, ROOT, "ann/a", NOW)
    authenticator = DatabaseAuthenticator(storage, "hush")
    assert authenticator.bot(registered.token) == BotIdentity(1, "ann/a@1")
    assert authenticator.bot("bt_bot_wrong") is None
    assert authenticator.bot("") is None
    assert authenticator.bot("\ud800") is None
    assert authenticator.bot("hush") is None
    assert authenticator.scope("hush") == Scope.WORKER
    for wrong in (registered.token, "", "hus", "\ud800"):
        assert authenticator.scope(wrong) is None


def test_authenticator_when_asked_who_is_revoked_then_it_names_them_and_the_unknown(storage: Storage) -> None:
    for _ in range(3):
        versions.register_version(storage, ROOT, "ann/a", NOW)
    versions.revoke_version(storage, ROOT, "ann/a@2", NOW)
    authenticator = DatabaseAuthenticator(storage, "hush")
    bots = [BotIdentity(number, f"ann/a@{number}") for number in (1, 2, 3, 9)]
    assert set(authenticator.revoked(bots)) == {2, 9}
    assert authenticator.revoked([]) == {}


def test_revoke_when_done_then_the_token_is_refused_at_once(storage: Storage) -> None:
    registered = versions.register_version(storage, ROOT, "ann/a", NOW)
    authenticator = DatabaseAuthenticator(storage, "hush")
    assert authenticator.bot(registered.token)
    versions.revoke_version(storage, ROOT, "ann/a@1", NOW)
    assert authenticator.bot(registered.token) is None
    assert [version.revoked_at for version in listed_versions(storage)] == [NOW]
    with pytest.raises(StateError, match="the token of ann/a@1 is revoked already"):
        versions.revoke_version(storage, ROOT, "ann/a@1", NOW)


def test_name_when_without_a_number_then_it_is_the_newest_good_version(storage: Storage) -> None:
    for _ in range(3):
        versions.register_version(storage, ROOT, "ann/a", NOW)
    versions.revoke_version(storage, ROOT, "ann/a@3", NOW)
    with storage.read() as tx:
        assert [version.name for version in versions.find_versions(tx, ["ann/a", "ann/a@3"], NOW)] == [
            "ann/a@2",
            "ann/a@3",
        ]


def test_names_when_there_are_more_than_one_query_takes_then_each_has_its_version_in_order(
    storage: Storage,
) -> None:
    with storage.write() as tx:
        owners = [Owner(id=number, name=f"owner-{number}", created_at=NOW) for number in range(1, 31)]
        bots_ = [
            Bot(id=100 * owner.id + number, owner_id=owner.id, name=f"bot-{number}", created_at=NOW)
            for owner in owners
            for number in range(15)
        ]
        tx.add_all(owners)
        tx.flush()
        tx.add_all(bots_)
        tx.flush()
        tx.add_all(
            BotVersion(
                bot_id=bot.id,
                number=number,
                name=f"owner-{bot.owner_id}/{bot.name}@{number}",
                token_hash=f"{bot.id}/{number}",
                created_at=NOW,
            )
            for bot in bots_
            for number in (2, 1)
        )
    names = [f"owner-{bot.owner_id}/{bot.name}{'@1' * (bot.id % 2)}" for bot in reversed(bots_)]
    expected = [name if "@" in name else f"{name}@2" for name in names]
    assert len(names) > versions.AT_ONCE
    with storage.read() as tx:
        assert [version.name for version in versions.find_versions(tx, names, NOW)] == expected
        with pytest.raises(UnknownError, match="no bot 'owner-1/nobody'"):
            versions.find_versions(tx, [*names, "owner-1/nobody", "neither"], NOW)
        with pytest.raises(SpecError, match="'neither' is neither owner/bot nor owner/bot@number"):
            versions.find_versions(tx, [*names, "neither", "owner-1/nobody"], NOW)


def test_name_when_all_versions_are_revoked_then_that_is_said(storage: Storage) -> None:
    for message in (
        "the token of ann/a@1 is revoked",
        "the token of each of the 2 versions of ann/a is revoked",
    ):
        newest = versions.register_version(storage, ROOT, "ann/a", NOW).bot
        versions.revoke_version(storage, ROOT, newest, NOW)
        with storage.read() as tx, pytest.raises(StateError, match=f"^{message}; register another version"):
            versions.find_versions(tx, ["ann/a"], NOW)


def test_name_when_the_newest_token_has_expired_then_it_is_a_version_whose_token_is_valid(
    storage: Storage,
) -> None:
    versions.register_version(storage, ROOT, "ann/a", NOW)
    versions.register_version(storage, ROOT, "ann/a", NOW, expires_in=1)
    for days, named in ((0, "ann/a@2"), (1, "ann/a@1")):
        with storage.read() as tx:
            [found] = versions.find_versions(tx, ["ann/a"], NOW + timedelta(days=days))
            assert found.name == named


def test_name_when_all_tokens_have_expired_then_that_is_said_and_the_newest_can_be_given_another(
    storage: Storage,
) -> None:
    for _ in range(2):
        versions.register_version(storage, ROOT, "ann/a", NOW, expires_in=1)
    later = NOW + timedelta(days=1)
    told = "^the token of ann/a@2 has expired; give it a new one with: arena bot rotate ann/a@2$"
    with storage.read() as tx, pytest.raises(StateError, match=told):
        versions.find_versions(tx, ["ann/a"], later)
    assert versions.rotate_version(storage, ROOT, "ann/a", later).bot == "ann/a@2"
    with storage.read() as tx:
        assert [one.name for one in versions.find_versions(tx, ["ann/a"], later)] == ["ann/a@2"]


def test_language_when_given_then_it_is_listed(storage: Storage) -> None:
    versions.register_version(storage, ROOT, "ann/a", NOW, "c++")
    versions.register_version(storage, ROOT, "ann/a", NOW)
    assert [version.language for version in listed_versions(storage)] == ["c++", None]


@pytest.mark.parametrize("language", ["", "Go", "x" * 21, "objective c"])
def test_language_when_it_is_none_then_nothing_is_registered(storage: Storage, language: str) -> None:
    with pytest.raises(SpecError, match=r"^language: .* is not a language"):
        versions.register_version(storage, ROOT, "ann/a", NOW, language)
    assert listed_versions(storage) == []


@pytest.mark.parametrize("name", ["ann/b", "ann/a@2", "zoe/a@1"])
def test_name_when_unknown_then_it_is_quoted(storage: Storage, name: str) -> None:
    versions.register_version(storage, ROOT, "ann/a", NOW)
    with storage.read() as tx, pytest.raises(UnknownError, match=f"no bot '{name}'"):
        versions.find_versions(tx, [name], NOW)
