"""Webhooks: messages are stored with what they report, sent until they arrive, signed, and listed."""

import json
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from ipaddress import ip_address
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.bots.versions import register_version
from arena.errors import ArenaError, NotAllowed, StateError, TooMany
from arena.host.settings import Settings, load_settings
from arena.people import accounts
from arena.people.acting import actor_of
from arena.play.rounds import planning
from arena.store.models import Account, BotVersion, Entrant, Seat, Session, Webhook, WebhookDelivery
from arena.tournaments import creation, entry, lifecycle
from arena.tournaments.referees import nobody_asked
from arena.webhooks import hooks
from arena.webhooks.hooks import EVENTS, emit
from arena.webhooks.post import NotSent, is_public, sign
from arena.webhooks.sending import EACH, GROWTH, KEPT, TAKEN, TRIES, deliver_due, forget_old
from referee.matches.match import MatchSpec, Progress, SessionResult
from tests.arena.fakes import ROOT, play_at_once
from tests.arena.world import World
from tests.waiting import DEADLINE

URL = "https://club.example.org/arena?at=1"
DAY = 86_400
PAGE = Path(__file__).resolve().parents[2] / "docs" / "webhooks.md"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"data": tmp_path / "data"})


class Receiver:
    """Answers in place of the network: with a status, or with the reason why there is no answer."""

    def __init__(self, *answers: int | str) -> None:
        self.answers = list(answers)
        self.seen: list[tuple[dict[str, str], bytes]] = []

    def __call__(self, url: str, body: bytes, headers: Mapping[str, str], *, private: bool) -> int:
        assert (url, private) == (URL, False)
        self.seen.append((dict(headers), body))
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, str):
            raise NotSent(answer)
        return answer

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.seen]


def add(world: World, settings: Settings, *events: str, actor: Actor = ROOT, name: str = "club") -> str:
    return hooks.add_webhook(world.storage, actor, settings, name, URL, events, world.clock()).secret


def try_out(world: World) -> None:
    hooks.try_webhook(world.storage, ROOT, "club", world.clock())


def deliver(world: World, settings: Settings, receiver: Receiver) -> int:
    return deliver_due(world.storage, settings, world.clock, receiver)


def told(world: World) -> list[dict[str, Any]]:
    """Return the bodies of all deliveries, in order."""
    bodies = select(WebhookDelivery.body).order_by(col(WebhookDelivery.id))
    with world.storage.read() as tx:
        return [json.loads(body) for body in tx.exec(bodies)]


def deliveries(world: World) -> list[hooks.DeliveryInfo]:
    return hooks.list_deliveries(world.storage, ROOT, "club").deliveries


def test_tournament_when_it_is_played_then_its_organiser_is_told_of_rounds_and_end(
    world: World, settings: Settings
) -> None:
    add(world, settings)
    world.finish(world.tournament(4, rounds=2, sessions=1, deals=1).id)
    assert [(one["type"], one["data"]) for one in told(world)] == [
        ("round.finished", {"tournament": "cup", "round": 1, "rounds": 2}),
        ("round.finished", {"tournament": "cup", "round": 2, "rounds": 2}),
        ("tournament.finished", {"tournament": "cup", "rounds": 2}),
    ]
    assert {one["timestamp"] for one in told(world)} == {world.clock().isoformat()}


def test_bots_when_they_forfeit_then_that_is_told_with_their_faults(world: World, settings: Settings) -> None:
    add(world, settings, "session.forfeited")
    world.finish(world.tournament(4, rounds=1, sessions=2).id, second_seat_forfeits)
    with world.storage.read() as tx:
        seatings = tx.exec(select(Session.seating).order_by(col(Session.number))).all()
        seated = tx.exec(select(BotVersion.name).join(Entrant).join(Seat).order_by(col(Seat.position))).all()
    assert sorted((one["data"] for one in told(world)), key=itemgetter("session")) == [
        {
            "tournament": "cup",
            "round": 1,
            "table": 1,
            "session": number,
            "forfeits": [{"bot": seated[seating[1]], "faults": 10}],
        }
        for number, seating in enumerate(seatings, start=1)
    ]


def second_seat_forfeits(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Play as usual, and report that the bot in seat 1 has forfeited."""
    for update in play_at_once(route, spec):
        if isinstance(update, SessionResult):
            yield replace(update, forfeits=(1,), faults=(0, 10, 0, 0))
        else:
            yield update


def test_bot_when_it_asks_to_enter_then_that_is_told(world: World, settings: Settings) -> None:
    spec = world.spec(world.register(4), format="swiss", rounds=1, entries="approved")
    creation.create(world.storage, ROOT, spec, world.clock())
    register_version(world.storage, ROOT, "ann/a", world.clock())
    add(world, settings)
    ann = Actor(Role.AUTHOR, "anna", frozenset({"ann"}))
    entry.enter(world.storage, ann, "cup", "ann/a", world.clock(), nobody_asked)
    lifecycle.lock(world.storage, ROOT, "cup", world.clock())
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    assert [(one["type"], one["data"]) for one in told(world)] == [
        ("entry.asked", {"tournament": "cup", "bot": "ann/a@1", "asked_by": "anna"}),
        ("tournament.cancelled", {"tournament": "cup"}),
    ]


def test_webhook_when_it_is_another_organisers_then_it_is_told_nothing(
    world: World, settings: Settings
) -> None:
    now, actors = world.clock(), []
    for name in ("olga", "otto"):
        accounts.create_account(world.storage, ROOT, name, Role.ORGANISER, now)
        with world.storage.read() as tx:
            account = accounts.find_account(tx, name)
        actors.append(Actor(Role.ORGANISER, name, frozenset(), account.id))
        add(world, settings, actor=actors[-1], name="mine")
    add(world, settings)
    creation.create(world.storage, actors[0], world.spec(world.register(4)), now)
    with world.storage.write() as tx:
        emit(tx, 1, "round.finished", now, round=1)
    counts = [len(hooks.list_deliveries(world.storage, actor, "mine").deliveries) for actor in actors]
    assert (counts, len(deliveries(world))) == ([1, 0], 0)
    accounts.change_account(world.storage, ROOT, "olga", now, disabled=True)
    with world.storage.write() as tx:
        emit(tx, 1, "round.finished", now, round=2)
    assert len(hooks.list_deliveries(world.storage, actors[0], "mine").deliveries) == 1
    with pytest.raises(ArenaError, match="no webhook 'club'"):
        hooks.list_deliveries(world.storage, actors[0], "club")


def test_what_happened_when_its_transaction_fails_then_nothing_is_told(
    world: World, settings: Settings
) -> None:
    world.tournament(4)
    add(world, settings)

    def fail() -> None:
        with world.storage.write() as tx:
            emit(tx, 1, "round.finished", world.clock(), round=1)
            tx.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert told(world) == []


def test_message_when_it_arrives_then_its_signature_is_checked_as_the_page_says(
    world: World, settings: Settings
) -> None:
    secret, receiver = add(world, settings), Receiver()
    world.clock.now = datetime.fromtimestamp(time.time(), world.clock().tzinfo)
    try_out(world)
    assert deliver(world, settings, receiver) == 1
    [(headers, body)] = receiver.seen
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)
    page: dict[str, Any] = {}
    exec(code, page)  # the code on the page
    assert page["is_genuine"](secret, headers, body)
    assert not page["is_genuine"](secret, headers, body + b" ")
    assert not page["is_genuine"](secret, headers | {"webhook-id": "msg_other"}, body)
    assert not page["is_genuine"](secret, headers | {"webhook-timestamp": "1000000000"}, body)
    other = hooks.rotate_webhook(world.storage, ROOT, settings, "club", world.clock()).secret
    assert not page["is_genuine"](other, headers, body)
    assert json.loads(body)["data"] == {"webhook": "club"}
    assert [(one.state, one.attempts, one.status) for one in deliveries(world)] == [("delivered", 1, 200)]
    assert deliver(world, settings, receiver) == 0


def test_message_when_it_does_not_arrive_then_it_is_sent_again_under_its_id_until_it_is_given_up(
    world: World, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    secret, receiver = add(world, settings), Receiver("nothing listens there", *[500] * (TRIES - 1))
    try_out(world)
    waited = []
    with caplog.at_level(logging.DEBUG):
        while deliver(world, settings, receiver):
            [one] = deliveries(world)
            if one.next_at is not None:
                waited.append((one.next_at - world.clock()).total_seconds())
                world.clock.now = one.next_at - timedelta(microseconds=1)
                assert deliver(world, settings, receiver) == 0
                world.clock.now = one.next_at
    assert waited == [5 * GROWTH**at for at in range(TRIES - 1)]
    assert len(set(receiver.ids)) == 1
    assert len({body for _, body in receiver.seen}) == 1
    assert (one.state, one.attempts, one.status, one.problem) == ("failed", TRIES, 500, "answered with 500")
    assert secret not in caplog.text
    assert "nothing listens there" in caplog.text
    with world.storage.read() as tx:
        assert secret not in tx.exec(select(Webhook)).one().model_dump_json()
    forget_old(world.storage, world.clock() + KEPT)
    assert len(deliveries(world)) == 1
    forget_old(world.storage, world.clock() + KEPT + 2 * TAKEN)
    assert deliveries(world) == []


class Killed(BaseException):
    """The death of a process in the middle of something."""


def test_message_when_the_worker_dies_while_it_sends_then_it_is_sent_again_under_its_id(
    world: World, settings: Settings
) -> None:
    add(world, settings)
    try_out(world)
    sent = []

    def die(url: str, body: bytes, headers: Mapping[str, str], *, private: bool) -> int:
        sent.append(headers["webhook-id"])
        raise Killed

    with pytest.raises(Killed):
        deliver_due(world.storage, settings, world.clock, die)
    receiver = Receiver()
    assert deliver(world, settings, receiver) == 0  # it may still be on its way
    world.clock.now += TAKEN
    assert deliver(world, settings, receiver) == 1
    assert (receiver.ids, [one.state for one in deliveries(world)]) == (sent, ["delivered"])


def test_message_when_another_attempt_was_begun_then_the_late_answer_says_nothing(
    world: World, settings: Settings
) -> None:
    add(world, settings)
    try_out(world)

    def be_late(url: str, body: bytes, headers: Mapping[str, str], *, private: bool) -> int:
        world.clock.now += TAKEN
        assert deliver(world, settings, Receiver()) == 1
        raise NotSent("timed out")

    deliver_due(world.storage, settings, world.clock, be_late)
    assert [(one.state, one.problem) for one in deliveries(world)] == [("delivered", None)]


def test_secret_when_it_was_sealed_with_the_worker_token_then_it_gets_the_key_of_webhooks(
    world: World, settings: Settings
) -> None:
    shared = settings.model_copy(update={"worker_token": SecretStr(settings.worker_secret())})
    secret = add(world, shared)  # with nothing else set, as it was in all arenas before
    for change in ({}, {"data": settings.data / "other"}):
        host, receiver = settings.model_copy(update=change), Receiver()
        if change:  # the worker token is different there, but webhooks no longer depend on it
            host = host.model_copy(update={"webhook_key": SecretStr(settings.webhook_secret())})
        try_out(world)
        assert deliver(world, host, receiver) == 1
        [(headers, body)] = receiver.seen
        at = int(headers["webhook-timestamp"])
        assert headers["webhook-signature"] == sign(secret, headers["webhook-id"], at, body)
    assert (settings.data / "webhook-key").stat().st_mode & 0o777 == 0o600


def test_secret_when_the_key_of_webhooks_is_another_then_that_is_told_and_a_new_one_helps(
    world: World, settings: Settings
) -> None:
    add(world, settings)
    try_out(world)
    other = settings.model_copy(update={"data": settings.data / "other"})
    assert deliver(world, other, Receiver()) == 1
    [one] = deliveries(world)
    assert one.problem is not None
    assert "ARENA_WEBHOOK_KEY has another value here; give it a new secret" in one.problem
    hooks.rotate_webhook(world.storage, ROOT, other, "club", world.clock())
    world.clock.now += timedelta(seconds=5)
    assert deliver(world, other, Receiver()) == 1
    assert deliveries(world)[0].state == "delivered"


def test_webhook_when_it_is_removed_then_nothing_more_is_sent(world: World, settings: Settings) -> None:
    add(world, settings)
    try_out(world)
    hooks.remove_webhook(world.storage, ROOT, "club", world.clock())
    assert deliver(world, settings, Receiver()) == 0
    assert hooks.list_webhooks(world.storage, ROOT).webhooks == []


def test_deliveries_when_there_are_many_then_pages_follow_each_other(
    world: World, settings: Settings
) -> None:
    add(world, settings)
    for _ in range(5):
        try_out(world)
    pages: list[list[str]] = []
    cursor = None
    while not pages or cursor is not None:
        page = hooks.list_deliveries(world.storage, ROOT, "club", 2, cursor)
        pages.append([one.message for one in page.deliveries])
        cursor = page.next
    assert [len(one) for one in pages] == [2, 2, 1]
    assert [one.message for one in deliveries(world)] == [message for one in pages for message in one]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.org", "url: must be http:// or https://"),
        ("https://", "url: must be http:// or https://"),
        ("https://example.org/ü", "url: must be http:// or https://"),
        ("https://example.org/" + "a" * 300, "url: must be http:// or https://"),
        ("https://me:secret@example.org", "url: needs a host, and has neither a user nor a fragment"),
        ("https://example.org/#top", "url: needs a host"),
        ("https://example.org:0/", "url: needs a host"),
        ("https://[::1/", "url: needs a host"),
        ("https://?", "url: needs a host"),
        ("http://127.0.0.1/", "url: 127.0.0.1 is not a public address"),
        ("http://[::ffff:10.0.0.1]/", "is not a public address"),
        ("http://169.254.169.254/latest", "is not a public address"),
    ],
)
def test_webhook_when_its_url_cannot_be_used_then_one_line_says_why(
    world: World, settings: Settings, url: str, said: str
) -> None:
    with pytest.raises(ArenaError, match=re.escape(said)):
        hooks.add_webhook(world.storage, ROOT, settings, "club", url, (), world.clock())


def test_webhook_when_something_else_is_wrong_then_one_line_says_why(
    world: World, settings: Settings
) -> None:
    with pytest.raises(ArenaError, match=r"events: 'deal\.finished' is not one of round\.finished, "):
        add(world, settings, "deal.finished")
    with pytest.raises(ArenaError, match="'A' is not a name"):
        add(world, settings, name="A")
    add(world, settings)
    with pytest.raises(ArenaError, match="webhook club already exists"):
        add(world, settings)
    for number in range(9):
        add(world, settings, name=f"club-{number}")
    with pytest.raises(StateError, match="the limit of 10 webhooks is reached"):
        add(world, settings, name="more")
    with pytest.raises(NotAllowed):
        add(world, settings, actor=Actor(Role.AUTHOR, "ann"))


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("2001:0:7f00:1::", False),
        ("fec0::1", False),
        ("3fff::1", False),
        ("3fff:fff::1", False),
        ("4000::1", False),
        ("192.88.99.1", False),
        ("192.0.0.9", False),
        ("192.31.196.1", False),
        ("192.175.48.1", False),
        ("198.19.0.1", False),
        ("240.0.0.1", False),
        ("2001:20::1", False),
        ("2001:30::1", False),
        ("2001:2::1", False),
        ("2001:db8::1", False),
        ("2002:808:808::", False),
        ("2620:4f:8000::1", False),
        ("64:ff9b::808:808", False),
        ("64:ff9b:1::808:808", False),
        ("::808:808", False),
        ("::ffff:0:8.8.8.8", False),
        ("100::1", False),
        ("100:0:0:1::1", False),
        ("5f00::1", False),
        ("2001:200::1", True),
        ("2a00:1450::1", True),
        ("192.0.1.1", True),
        ("100.128.0.1", True),
    ],
)
def test_address_is_public_if_it_is_one_of_the_internet(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


def test_receivers_when_those_of_one_organiser_are_slow_then_the_others_are_told_meanwhile(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "MOST_TESTS", 100)
    for name in ("slow", "quick"):
        accounts.create_account(world.storage, ROOT, name, Role.ORGANISER, world.clock())
    with world.storage.read() as tx:
        found = {one.name: actor_of(tx, one.id) for one in tx.exec(select(Account))}
    urls, told_ = {name: f"https://{name}.example/" for name in found}, threading.Event()
    for name, count in (("slow", 40), ("quick", 5)):
        actor = found[name]
        assert actor is not None
        hooks.add_webhook(world.storage, actor, settings, "club", urls[name], (), world.clock())
        for _ in range(count):
            hooks.try_webhook(world.storage, actor, "club", world.clock())
    seen: Counter[str] = Counter()

    def post(url: str, body: bytes, headers: Mapping[str, str], *, private: bool) -> int:
        seen[url] += 1
        if url == urls["slow"]:
            assert told_.wait(DEADLINE)
            return 200
        if seen[url] == 5:
            assert seen[urls["slow"]] <= EACH
            told_.set()
        return 200

    assert deliver_due(world.storage, settings, world.clock, post) == 45
    assert seen == {urls["slow"]: 40, urls["quick"]: 5}


def test_delivering_when_it_is_time_to_stop_then_nothing_more_is_begun(
    world: World, settings: Settings
) -> None:
    add(world, settings)
    try_out(world)
    receiver = Receiver()
    assert deliver_due(world.storage, settings, world.clock, receiver, stopping=lambda: True) == 0
    assert receiver.seen == []


def test_test_messages_when_there_are_many_within_a_minute_then_further_ones_are_refused(
    world: World, settings: Settings
) -> None:
    for name in ("club", "other"):
        add(world, settings, name=name)
    for number in range(hooks.MOST_TESTS):
        hooks.try_webhook(world.storage, ROOT, ("club", "other")[number % 2], world.clock())
    with pytest.raises(TooMany, match="only 6 test messages may be sent within a minute"):
        try_out(world)
    world.clock.move(60)
    try_out(world)


def test_page_has_all_events() -> None:
    rows = re.findall(r"^\| `([a-z.]+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert rows == [*EVENTS, "test"]


def test_message_when_a_clock_was_ahead_at_an_attempt_then_it_is_due(
    world: World, settings: Settings
) -> None:
    add(world, settings)
    try_out(world)
    receiver = Receiver(500)
    world.clock.move(DAY * 400)
    assert deliver(world, settings, receiver) == 1
    world.clock.move(-DAY * 400)
    assert deliver(world, settings, receiver) == 1
    assert [one.state for one in deliveries(world)] == ["delivered"]


def test_tests_when_a_clock_was_ahead_then_more_may_be_sent(world: World, settings: Settings) -> None:
    add(world, settings)
    world.clock.move(DAY)
    for _ in range(hooks.MOST_TESTS):
        try_out(world)
    with pytest.raises(TooMany):
        try_out(world)
    world.clock.move(-DAY)
    try_out(world)
