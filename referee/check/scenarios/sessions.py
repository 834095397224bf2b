"""Deals and sessions: their beginnings, their ends, many of them."""

from referee.check.desk import Desk, Group
from referee.check.scenarios.turns import FOLLOWING, FOUR, small, three
from referee.check.session import LIMITS, BotSession, RulesetObject, due, eager, notice, quiet, scripted
from referee.v1 import bots_pb2

group = Group()


@group("SESS-01", "Plays many deals", "A session of ten deals, with running scores.")
async def many_deals(desk: Desk) -> None:
    await desk.play([desk.session(small(), 1, deals=10)])


@group(
    "SESS-02",
    "Plays many sessions at once",
    "As many as its hello allows, up to 64, with all first turns in one message.",
)
async def many_sessions(desk: Desk) -> None:
    rules = small(6)
    await desk.play([desk.session(rules, number % 4) for number in range(desk.sessions_at_once)], turns=2)


@group(
    "SESS-03",
    "Plays sessions interleaved",
    "Eight sessions; each next turn comes alone, while the others wait.",
)
async def interleaved(desk: Desk) -> None:
    async def one_by_one(response: bots_pb2.PlayResponse) -> None:
        for event in response.events:
            desk.send(bots_pb2.PlayResponse(events=[event]))

    rules = small(6)
    await desk.play([desk.session(rules, number % 4) for number in range(8)], deliver=one_by_one)


@group(
    "SESS-04",
    "Plays different rulesets at once",
    "Five tables with other packs, sizes, suits and directions.",
)
async def different(desk: Desk) -> None:
    rules: list[RulesetObject] = [
        "lectio",
        "only-a-game-8",
        "pusoy-dos",
        "indonesia",
        small(name="check-suits", suits=["H", "S", "D", "C"]),
    ]
    await desk.play(desk.session_of_each(rules, 1), turns=3)


@group(
    "SESS-05",
    "Takes a used handle for a new session",
    "A session ends; another one, other rules and seat, has its handle.",
)
async def reused_handle(desk: Desk) -> None:
    first = desk.session(small(), 0)
    await desk.play([first])
    await desk.play([desk.session("lectio", 2, handle=first.handle, seed="again")], turns=3)


@group(
    "SESS-06",
    "Takes an end and a beginning at once",
    "deal_ended, session_ended and the next session_started in one message.",
)
async def end_and_beginning(desk: Desk) -> None:
    first = desk.session(small(), 0, hands=FOUR, others=quiet)
    second = desk.session(small(6), 2, handle=first.handle, seed="next", others=eager)
    opened = False

    async def with_the_next(response: bots_pb2.PlayResponse) -> None:
        nonlocal opened
        if first.over and not opened:
            opened = True
            second.open(response)
        desk.send(response)

    await desk.play([first], deliver=with_the_next)
    await desk.go_on([second])


@group(
    "SESS-07",
    "Takes a deal without a turn of its own",
    "Another seat goes out at once, or holds a dragon or six pairs; then the next deal.",
)
async def without_a_turn(desk: Desk) -> None:
    straight = "3D 4C 5S 6H 7D"
    dragon = "3D 4D 5D 6D 7C 8C 9C TC JH QH KH AS 2S"
    pairs = "3D 3C 5D 5C 7H 7S 9H 9S JD JC KD KC 2S"
    sessions = [
        desk.session(
            small(), 2, deals=2, hands={1: [straight, None, None, None]}, others=scripted({0: [straight]})
        ),
        desk.session(small(13, dragon="wins"), 1, deals=2, hands={1: [dragon, None, None, None]}),
        desk.session(
            small(13, name="check-pairs", instant_wins=["six_pairs"]),
            1,
            deals=2,
            hands={1: [pairs, None, None, None]},
        ),
    ]
    await desk.play(sessions)


@group(
    "SESS-08",
    "Takes a void session",
    "The session is void while the bot owes a turn; then another one is played.",
)
async def void(desk: Desk) -> None:
    session = desk.session(small(), 0, hands=FOUR)
    response = bots_pb2.PlayResponse()
    session.open(response)
    session.void(response)
    desk.send(response)
    await desk.play([desk.session(small(), 0, handle=session.handle, seed="after", hands=FOUR, others=quiet)])


@group(
    "SESS-09", "Takes a forfeit", "Another seat, and then the bot itself, forfeits in the middle of a deal."
)
async def forfeit(desk: Desk) -> None:
    for seat in (3, 0):
        session = desk.session(small(), 0, hands=FOUR, others=quiet)
        response = bots_pb2.PlayResponse()
        session.open(response)
        session.forfeit(response, seat)
        desk.send(response)
    await desk.play([desk.session(small(), 0, hands=FOUR, others=quiet)])


@group(
    "SESS-10",
    "Takes large and jumping numbers",
    "Handles and sequences up to 32 bits; sequences that leave gaps.",
)
async def large_numbers(desk: Desk) -> None:
    sessions = [
        desk.session(small(), 0, handle=3_000_000_000, first_sequence=4_294_960_000),
        desk.session(small(), 1, handle=70_000, first_sequence=1_000),
    ]
    for session in sessions:
        session.sequence_step = 77
    await desk.play(sessions)


@group(
    "SESS-11",
    "Goes on after a fault",
    "Some answers count as too late: the referee acts, sends the fault and goes on.",
)
async def faults(desk: Desk) -> None:
    kinds = bots_pb2.FaultKind.values()[1:]
    limits = LIMITS.model_copy(update={"faults": 99, "ask_forced": True})
    sessions = [
        desk.session(small(), 1, hands=FOLLOWING, others=policy, limits=limits)
        for policy in (quiet, eager)
        for _ in kinds
    ]
    await play_with_faults(desk, sessions, [*kinds, *kinds])


@group(
    "SESS-12",
    "Knows seat 0 from no seat",
    "Seat 0 gets a card in an exchange, and forfeits: partner and forfeited_by are there, and are 0.",
)
async def seat_zero(desk: Desk) -> None:
    straight = "3D 4C 5S 6H 7D"
    session = desk.session(
        three(exchange="loser_to_winner"),
        1,
        deals=2,
        hands={1: [straight, "8D 9C JS QH 2D", "8C 9H JD QD 2C"]},
        others=scripted({0: [straight]}),
    )
    await desk.play([session])
    session = desk.session(small(), 1, hands=FOLLOWING, others=eager)
    response = bots_pb2.PlayResponse()
    session.open(response)
    session.forfeit(response, 0)
    desk.send(response)
    await desk.play([desk.session(small(), 0, hands=FOUR, others=quiet)])


async def play_with_faults(
    desk: Desk, sessions: list[BotSession], kinds: "list[bots_pb2.FaultKind.ValueType]"
) -> None:
    """Play sessions in which every second answer is rejected, with the kind of fault of its session."""
    turns = dict.fromkeys((session.handle for session in sessions), 0)
    desk.open(sessions)
    while owing := [session for session in sessions if session.turn is not None]:
        request = await desk.hear(due(owing))
        response = bots_pb2.PlayResponse()
        for session, move in desk.answers(sessions, request, response):
            turns[session.handle] += 1
            if turns[session.handle] % 2:
                session.reject(response, kinds[sessions.index(session)], move)
                response.events.append(
                    notice(bots_pb2.NOTICE_CODE_STALE_MOVE, session=move.session, sequence=move.sequence)
                )
            else:
                session.take(move)
            session.go_on(response)
        if response.events:
            desk.send(response)
