"""Descriptions of bots, a language and a link: checked, changed by the owner, and noted in the audit."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlmodel import select

from arena.actors import Actor, Role
from arena.bots.descriptions import Description, describe
from arena.bots.versions import register_version
from arena.errors import NotAllowed, SpecError, UnknownError
from arena.queries.operator import ChangeQuery, changes
from arena.store.models import Bot
from arena.store.storage import Storage
from tests.arena.fakes import ROOT, listed_versions

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LINK = "https://example.org/ann?bot=a"


@pytest.fixture
def bot(storage: Storage) -> str:
    register_version(storage, ROOT, "ann/a", NOW, "go", link=LINK)
    return "ann/a"


def told(storage: Storage) -> list[tuple[str | None, str | None]]:
    with storage.read() as tx:
        return [(row.language, row.link) for row in tx.exec(select(Bot))]


def test_bot_when_another_version_is_registered_without_a_word_then_the_bot_keeps_what_was_told(
    storage: Storage, bot: str
) -> None:
    register_version(storage, ROOT, bot, NOW)
    assert told(storage) == [("go", LINK)]
    assert [version.language for version in listed_versions(storage)] == ["go", None]
    register_version(storage, ROOT, bot, NOW, "rust")
    assert told(storage) == [("rust", LINK)]


@pytest.mark.parametrize(
    ("language", "link", "after"),
    [
        ("rust", None, ("rust", LINK)),
        (None, "http://b.example/", ("go", "http://b.example/")),
        ("", None, (None, LINK)),
        (None, "", ("go", None)),
        ("c++", "", ("c++", None)),
    ],
)
def test_description_when_it_is_changed_then_the_rest_stays_and_the_audit_has_it(
    storage: Storage, bot: str, language: str | None, link: str | None, after: tuple[str | None, str | None]
) -> None:
    ann = Actor(Role.AUTHOR, "ann", frozenset({"ann"}))
    assert describe(storage, ann, bot, NOW, language, link) == Description(bot, *after, open_to=[])
    assert told(storage) == [after]
    change = changes(storage, ROOT, ChangeQuery()).entries[0]
    assert (change.actor, change.action, change.subject) == (ann.who, "bot.describe", bot)
    given = {"language": language, "link": link}
    assert change.details == {name: value or None for name, value in given.items() if value is not None}
    assert [version.language for version in listed_versions(storage)] == ["go"]


@pytest.mark.parametrize(
    "link",
    [
        "example.org",
        "ftp://example.org/",
        "javascript:alert(1)",
        "https://",
        "https:///path",
        "https://bank.example@evil.example/",
        "https://example.org/a b",
        "https://example.org/\x1b[2J",
        "https://exämple.org/",
        "https://[::1",
        "https://example.org:99999/",
        f"https://example.org/{'a' * 200}",
    ],
)
def test_link_when_it_is_none_to_a_page_then_it_is_refused_and_nothing_changes(
    storage: Storage, bot: str, link: str
) -> None:
    for change in (describe, register):
        with pytest.raises(SpecError, match="link: "):
            change(storage, ROOT, bot, NOW + timedelta(1), link=link)
    assert told(storage) == [("go", LINK)]
    assert len(listed_versions(storage)) == 1


def register(storage: Storage, actor: Actor, bot: str, now: datetime, link: str) -> object:
    return register_version(storage, actor, bot, now, link=link)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("ann/a@1", "is a version"), ("ann", "neither"), ("ann/a/b", "neither")],
)
def test_description_when_the_name_is_no_bots_then_it_is_refused(
    storage: Storage, bot: str, name: str, problem: str
) -> None:
    with pytest.raises(SpecError, match=problem):
        describe(storage, ROOT, name, NOW, "go")


def test_description_when_nothing_is_told_or_the_bot_is_unknown_or_anothers_then_it_is_refused(
    storage: Storage, bot: str
) -> None:
    with pytest.raises(SpecError, match="nothing to change"):
        describe(storage, ROOT, bot, NOW)
    with pytest.raises(UnknownError, match="did you mean 'ann/a'"):
        describe(storage, ROOT, "ann/aa", NOW, "go")
    with pytest.raises(NotAllowed):
        describe(storage, Actor(Role.AUTHOR, "bob", frozenset({"bob"})), bot, NOW, "go")
