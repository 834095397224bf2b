"""What later versions of the protocol may send: it must be ignored."""

from collections.abc import Callable

from referee.check.alter import add_unknown_fields, unknown_event, unpacked
from referee.check.desk import Deliver, Desk, Group
from referee.check.outcome import Failed
from referee.check.scenarios.sessions import play_with_faults
from referee.check.scenarios.turns import FOLLOWING, FOUR, small
from referee.check.session import due, eager, notice, quiet
from referee.v1 import bots_pb2, cards_pb2

group = Group()

LATER = 99
"""A number that no enum has yet."""


def altered(desk: Desk, alter: Callable[[bots_pb2.PlayResponse], None]) -> Deliver:
    """Return a function that alters each message before it sends it."""

    async def deliver(response: bots_pb2.PlayResponse) -> None:
        alter(response)
        desk.send(response)

    return deliver


def later_kinds(response: bots_pb2.PlayResponse) -> None:
    """Make every turn one of a kind that is not known yet."""
    for event in response.events:
        if event.HasField("turn"):
            event.turn.kind = LATER  # type: ignore[assignment]


@group(
    "FUTURE-01", "Ignores unknown events", "Events of a kind that is not known yet, alone and among others."
)
async def unknown_events(desk: Desk) -> None:
    async def deliver(response: bots_pb2.PlayResponse) -> None:
        alone = bots_pb2.PlayResponse(events=[unknown_event()])
        mixed = [event for known_event in response.events for event in (unknown_event(), known_event)]
        desk.send(alone, bots_pb2.PlayResponse(events=[*mixed, unknown_event()]), alone)

    await desk.play([desk.session(small(), 0), desk.session(small(), 1)], deliver=deliver)


@group(
    "FUTURE-02",
    "Ignores unknown fields",
    "Every message and every part of it has fields that are not known yet.",
)
async def unknown_fields(desk: Desk) -> None:
    deliver = altered(desk, add_unknown_fields)
    await desk.play([desk.session(small(), 0, deals=2), desk.session("lectio", 1)], deliver=deliver)


@group(
    "FUTURE-03",
    "Passes at an unknown turn where it can",
    "A turn of unknown kind with can_pass, after a play.",
)
async def unknown_turn_pass(desk: Desk) -> None:
    session = desk.session(small(), 1, hands=FOLLOWING, others=eager)
    response = bots_pb2.PlayResponse()
    session.open(response)
    later_kinds(response)
    desk.send(response)
    while session.turn is not None:
        request = await desk.hear(f"a pass {session.position()}, at a turn of kind {LATER}")
        for _, move in desk.answers([session], request, response):
            if not move.passes or move.cards:
                cards = [cards_pb2.Card.Name(card).removeprefix("CARD_") for card in move.cards]
                raise Failed(
                    f"expected a pass {session.position()}, at a turn of kind {LATER} with can_pass; "
                    f"the bot answered {' '.join(cards) or 'no cards'}"
                )
            session.take(move)


@group(
    "FUTURE-04",
    "Plays at an unknown turn where it must",
    "A turn of unknown kind without can_pass: any legal play.",
)
async def unknown_turn_play(desk: Desk) -> None:
    session = desk.session(small(), 0, hands=FOUR, others=quiet)
    await desk.play([session], deliver=altered(desk, later_kinds))


@group(
    "FUTURE-05",
    "Ignores unknown kinds of actions",
    "Actions of a kind that is not known yet, without cards, in turns and ends.",
)
async def unknown_actions(desk: Desk) -> None:
    def later(response: bots_pb2.PlayResponse) -> None:
        for event in response.events:
            if event.HasField("turn"):
                event.turn.actions.add(seat=2).kind = LATER  # type: ignore[assignment]
            elif event.HasField("deal_ended"):
                event.deal_ended.actions.add(seat=2).kind = LATER  # type: ignore[assignment]

    sessions = [desk.session(small(), 0, deals=2), desk.session(small(), 1)]
    await desk.play(sessions, deliver=altered(desk, later))


@group(
    "FUTURE-06",
    "Takes unknown ends and notices",
    "DealEnd, SessionEnd and NoticeCode with numbers that are not known yet.",
)
async def unknown_ends(desk: Desk) -> None:
    def later(response: bots_pb2.PlayResponse) -> None:
        for event in response.events:
            if event.HasField("deal_ended"):
                event.deal_ended.end = LATER  # type: ignore[assignment]
            elif event.HasField("session_ended"):
                event.session_ended.reason = LATER  # type: ignore[assignment]
        response.events.append(notice(LATER))

    await desk.play([desk.session(small(), 0, deals=2)], deliver=altered(desk, later))
    await desk.play([desk.session(small(), 1)])


@group("FUTURE-07", "Takes unknown faults", "Faults of a kind that is not known yet; the session goes on.")
async def unknown_faults(desk: Desk) -> None:
    later: list[bots_pb2.FaultKind.ValueType] = [LATER, LATER]  # type: ignore[list-item]
    await play_with_faults(desk, [desk.session(small(6), seat) for seat in (0, 1)], later)


@group("FUTURE-08", "Reads unpacked lists", "Lists of cards are encoded one by one, as some encoders do.")
async def unpacked_lists(desk: Desk) -> None:
    async def deliver(response: bots_pb2.PlayResponse) -> None:
        desk.send(unpacked(response))

    await desk.play([desk.session(small(), 0, deals=2), desk.session("lectio", 1)], deliver=deliver)


@group(
    "FUTURE-09",
    "Plays rules of the future from the list",
    "The ruleset has fields and values that are not known yet; the legal plays are listed.",
    needs="lists",
)
async def unknown_rules(desk: Desk) -> None:
    def later(response: bots_pb2.PlayResponse) -> None:
        for event in response.events:
            if event.HasField("session_started"):
                ruleset = event.session_started.ruleset
                event.session_started.ruleset = ruleset[:-1] + ', "of_the_future": {"anything": true}}'

    await desk.play([desk.session(small(), 0), desk.session("lectio", 1)], deliver=altered(desk, later))


@group(
    "FUTURE-10",
    "Outlives a session that it cannot read",
    "One session has an invalid ruleset; whatever the bot does there, its other sessions go on.",
)
async def unreadable_session(desk: Desk) -> None:
    readable, unreadable = desk.session(small(6), 1), desk.session(small(), 0, hands=FOUR)
    response = bots_pb2.PlayResponse()
    unreadable.open(response)
    for event in response.events:
        if event.HasField("session_started"):
            event.session_started.ruleset = '{"of_the_future": true}'
    readable.open(response)
    desk.send(response)
    while readable.turn is not None:
        request = await desk.hear(due([readable]))
        response = bots_pb2.PlayResponse()
        for move in filter(readable.owes, request.moves):
            readable.take(move)
            readable.go_on(response)
        if response.events:
            desk.send(response)
    await desk.play([desk.session(small(), 0)])
