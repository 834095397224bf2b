"""The keys with which referees sign: made once, private, and known to each tournament."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from arena.cli.referee import begun_attempts
from arena.errors import SettingsError
from arena.host.settings import Settings
from arena.store.models import RefereeKey
from arena.tournaments import lifecycle
from arena.trust.keys import register_key, signing_key
from referee.signing import SigningKey, is_valid
from tests.arena.exported import check, lines_of, play_by_table
from tests.arena.fakes import ROOT
from tests.arena.work import Work, work
from tests.arena.world import World
from tests.referee.key import KEY

__all__ = ["work"]

OTHER = SigningKey.draw()
DIGEST = "ab" * 32


def key_file(settings: Settings) -> Path:
    [file] = (settings.data / "referee-keys").iterdir()
    return file


def rsa_key() -> bytes:
    key = generate_private_key(65537, 2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_key_when_a_referee_starts_again_then_it_is_the_same_and_private(settings: Settings) -> None:
    first = signing_key(settings, "[::1]:8710")
    assert signing_key(settings, "[::1]:8710").public == first.public
    file = key_file(settings)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_key_when_two_referees_share_a_folder_then_each_has_its_own(settings: Settings) -> None:
    assert signing_key(settings, "a").public != signing_key(settings, "b").public


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is damaged, or needs a password"),
        (KEY.pem()[:-40], "is damaged, or needs a password"),
        (rsa_key(), "holds a key, but not of Ed25519"),
    ],
)
def test_key_when_its_file_is_broken_then_the_error_names_it(
    settings: Settings, content: bytes, why: str
) -> None:
    signing_key(settings, "a")
    file = key_file(settings)
    file.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        signing_key(settings, "a")
    assert f"{file}: the referee's key {why}" in str(caught.value)


def test_signature_when_made_then_only_its_key_and_its_digest_fit_it() -> None:
    signed = KEY.sign(DIGEST)
    assert is_valid(signed)
    assert not is_valid(signed._replace(key=OTHER.public))
    assert not is_valid(signed._replace(digest="cd" * 32))
    assert not is_valid(signed._replace(signature="00"))
    assert not is_valid(signed._replace(key="no"))


def events(world: World) -> list[dict[str, Any]]:
    """Return the events of the tournament's export."""
    lines = map(json.loads, lines_of(world))
    return [line for line in lines if line.get("part") == "event"]


def test_head_when_locked_then_it_names_the_keys_of_the_referees(world: World) -> None:
    register_key(world.storage, "a", OTHER.public, world.clock())
    world.tournament(4)
    head = json.loads(lines_of(world)[0])
    names = [("a", OTHER.public), ("referee", KEY.public)]
    assert [(one["referee"], one["key"]) for one in head["referees"]] == names


def test_key_when_a_referee_comes_later_then_it_is_an_event_and_verify_says_so(world: World) -> None:
    status = world.tournament(4, sessions=1, deals=1)
    for referee in ("late", "late", "referee"):
        register_key(world.storage, referee, OTHER.public, world.clock())
    world.finish(status.id, play_by_table)
    added = [event for event in events(world) if event["event"] == "key_added"]
    assert [event["details"] for event in added] == [{"referee": "late", "key": OTHER.public}]
    report = check(lines_of(world))
    assert report.problem is None
    sessions = {key: (found.referee, found.added_at, found.sessions) for key, found in report.keys.items()}
    assert sessions == {KEY.public: ("referee", None, 1), OTHER.public: ("late", added[0]["at"], 0)}


def test_key_when_it_is_new_after_the_end_then_the_tournament_stays_as_it_is(world: World) -> None:
    world.finish(world.tournament(4, sessions=1, deals=1).id, play_by_table)
    before = lines_of(world)
    register_key(world.storage, "referee", OTHER.public, world.clock())
    assert lines_of(world) == before


def test_key_when_it_was_missed_at_the_lock_then_it_is_noted_before_the_next_event(world: World) -> None:
    """This happens when a referee starts and a tournament is locked at the same moment."""
    status = world.tournament(4)
    with world.storage.write() as tx:
        tx.add(RefereeKey(referee="late", key=OTHER.public, since=world.clock()))
    lifecycle.pause(world.storage, ROOT, status.tournament, world.clock())
    lifecycle.resume(world.storage, ROOT, status.tournament, world.clock())
    assert [event["event"] for event in events(world)] == ["started", "key_added", "paused", "resumed"]


def test_event_when_the_first_has_been_noted_then_no_head_and_no_earlier_event_is_read(
    work: Work, world: World
) -> None:
    name = world.tournament(4).tournament
    costs = []
    for _ in range(20):
        lifecycle.pause(world.storage, ROOT, name, world.clock())
        work.statements.clear()
        begun = work.instructions
        lifecycle.resume(world.storage, ROOT, name, world.clock())
        costs.append(work.instructions - begun)
    assert 0 < costs[-1] == costs[0]
    read = [statement for statement in work.statements if "tournament_heads" in statement]
    assert read
    assert not [statement for statement in read if "tournament_heads.head" in statement]


def test_memory_of_begun_attempts_when_it_cannot_be_used_then_it_is_named(settings: Settings) -> None:
    file = settings.prepare().data / "begun-attempts.db"
    file.write_text("no database, and longer than the header of one" * 100)
    with pytest.raises(SettingsError, match=f"{file} which attempts are begun: file is not a database"):
        begun_attempts(settings)
