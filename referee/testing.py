"""For tests of bots: turns from text and from recorded deals, and deals played in this process.

from referee.testing import play_deal, turn_at, turn_from

turn = turn_from("chinese; hand 3D 4C 4D 9S 2S; to beat 3C 3H; counts 5 8 13 2")
assert str(choose(turn)) == "4D 4C"
assert choose(turn_at("lost.jsonl", deal=3, action=9)) is None
assert play_deal(choose, "greedy", "keeper", "random", seed="7").points[0] > -10
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from referee.bot.bots import Bot, one_for_all
from referee.bot.turn import Turn
from referee.deals.deal import Deal
from referee.errors import BotFailed, CardError, PlayError, PositionError, RecordError
from referee.local.loading import home_of, load_file
from referee.local.session import LocalSession, LocalView, Seated, turn_of
from referee.local.table import SDK_FAULTS, seat_names, session_id
from referee.matches import events
from referee.matches.events import Encodings
from referee.matches.match import Limits
from referee.position import Position
from referee.reading.names import is_number
from referee.reading.validation import suggestion
from referee.records.reading import deal_records
from referee.records.record import full_record
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.samples import sample_bots

__all__ = ["DealPlayed", "play_deal", "turn_at", "turn_from"]

DECISION_MS = 1000

TIMES = ("ms", "credit_ms")
"""Fields of records that differ each time a deal is played."""

Record: TypeAlias = Mapping[str, Any]

FIELDS = ("hand", "to beat", "counts", "seat", "must", "ms")
"""What a text for ``turn_from`` may say, after the ruleset."""


def turn_from(text: str) -> Turn:
    """Return the turn that a text describes: the ruleset, and then what is known, separated by semicolons.

    ``hand 3D 4C 5C`` is the bot's. ``to beat 3C 3H`` was played by the seat before it; without that, the bot
    leads, and ``must 3D`` is the card that its play must contain. ``counts 3 8 13 2`` are the cards left,
    seat 0 first, by default those of a fresh hand; ``seat 0`` is the bot's, ``ms 1000`` the time it has. A
    position as text, such as ``str(turn.position())``, is also accepted.

    Raise PositionError for what is impossible.
    """
    if "hands" in text and " / " in text:
        position = Position.parse(text)
        return _turn(position.deal(), position.seat)
    name, *parts = (part.strip() for part in text.split(";"))
    fields = dict(map(_field, filter(None, parts)))
    rules = rules_of(name)
    try:
        return _described(rules, fields)
    except (CardError, PlayError, ValueError) as error:
        raise PositionError(f"{text!r}: {error}") from None


def _field(part: str) -> tuple[str, str]:
    name = next((name for name in FIELDS if part == name or part.startswith(f"{name} ")), None)
    if name is None:
        raise PositionError(f"{part!r}: must begin with {', '.join(FIELDS[:-1])} or {FIELDS[-1]}")
    return name, part.removeprefix(name).strip()


def _described(rules: Rules, fields: Mapping[str, str]) -> Turn:
    players, size = rules.ruleset.players, rules.ruleset.hand_size
    if size == "all":
        size = rules.count(rules.full) // players
    seat = _number(fields.get("seat", "0"))
    hand, to_beat = rules.parse(fields.get("hand", "")), rules.parse(fields.get("to beat", ""))
    if seat not in range(players):
        raise PositionError(f"seat {seat}: must be below {players}")
    if not hand:
        raise PositionError("hand: must have a card")
    counts = [*map(_number, fields["counts"].split())] if "counts" in fields else [size] * players
    own = rules.count(hand)
    counts[seat : seat + 1] = [own] if "counts" not in fields else counts[seat : seat + 1]
    if len(counts) != players or counts[seat] != own:
        raise PositionError(
            f"counts: must be {players} numbers, with {own} for seat {seat}, whose hand has as many"
        )
    step = 1 if rules.ruleset.direction == "clockwise" else -1
    before = (seat - step) % players
    hands = [(0, count) for count in counts]
    hands[seat] = (hand, 0)
    if to_beat:
        hands[before] = (to_beat, counts[before])
    position = Position.seen(
        rules,
        step=step,
        dealer=before,
        leader=before if to_beat else seat,
        hands=hands,
        actions=[(before, to_beat, False)] if to_beat else [],
        include=rules.parse(fields.get("must", "")),
    )
    return _turn(position.deal(), seat, _number(fields.get("ms", str(DECISION_MS))))


def _number(text: str) -> int:
    if not is_number(text):
        raise ValueError(f"{text!r} is not a number")
    return int(text)


def turn_at(record: Record | Iterable[Record] | Path | str, *, deal: int | None = None, action: int) -> Turn:
    """Return the turn before the ``action`` of this index, from 0, in a recorded deal.

    ``record`` is a deal record, several, or the path of a file with one JSON object per line, as
    ``arena bot games --json`` prints them; ``deal`` says which one, by its number in its session. The turn is
    that of the seat that acted. Raise RecordError if there is no such deal or action.
    """
    return _turn_of(_chosen([*_records(record)], deal), action)


def _records(source: Record | Iterable[Record] | Path | str) -> Iterator[Record]:
    if isinstance(source, Mapping):
        yield source.get("record", source)
    elif isinstance(source, (str, Path)):
        yield from (deal.record for deal in deal_records(Path(source)))
    else:
        for record in source:
            yield from _records(record)


def _chosen(records: Sequence[Record], deal: int | None) -> Record:
    chosen = [record for record in records if deal is None or record["deal"] == deal]
    if len(chosen) != 1:
        what = "deal records" if deal is None else f"records of deal {deal}"
        raise RecordError(None, f"needs one of the {what}, has {len(chosen)}")
    return chosen[0]


def _turn_of(record: Record, action: int) -> Turn:
    from referee.records.reading import read_record
    from referee.records.replay import carry_out, start

    whole = read_record(record)
    if action not in range(len(whole.actions)):
        raise RecordError(action, f"must be an action from 0 to {len(whole.actions) - 1}")
    deal = start(whole, None)
    for index, text in enumerate(whole.actions[:action]):
        carry_out(deal, index, text)
    return _turn(deal, int(whole.actions[action][0]), seats=tuple(whole.seats), number=whole.deal)


def _turn(
    deal: Deal, seat: int, time_ms: int = DECISION_MS, *, seats: tuple[str, ...] = (), number: int = 1
) -> Turn:
    """Return the turn of a seat that owes a decision in a deal."""
    names = seats or seat_names(["bot"] * deal.rules.ruleset.players, range(deal.rules.ruleset.players))
    view = LocalView(_session(deal.rules, names, number), seat)
    view.deal_begins(deal)
    view.catch_up(deal, 0)
    turn = events.Turn(_session(deal.rules, names, number), seat, 1, deal, Encodings())
    turn.time_ms = time_ms
    return turn_of(view, turn)


def _session(rules: Rules, seats: tuple[str, ...], deals: int) -> events.SessionInfo:
    return events.SessionInfo(
        handle=0,
        session_id=session_id(1),
        number=1,
        tournament="test",
        ruleset=json.dumps(rules.ruleset.to_object()),
        rules=rules,
        seats=seats,
        deals=deals,
        commitment="",
        limits=Limits(decision_ms=DECISION_MS, credit_ms=0, faults=SDK_FAULTS),
    )


@dataclass(frozen=True)
class DealPlayed:
    """The result of a deal played in a test."""

    points: tuple[int, ...]
    """By seat."""
    record: dict[str, Any]
    """The deal record, for ``turn_at``; without times, so that it is the same each time."""
    seconds: tuple[tuple[float, ...], ...]
    """By seat, how long each decision took."""


def play_deal(*bots: Bot | str, ruleset: str = "chinese", seed: str = "1") -> DealPlayed:
    """Play one deal in this process and return its result; the same seed deals the same cards.

    ``bots`` sit in this order: functions, classes, or names of sample bots; ``greedy`` fills the remaining
    seats. Raise BotFailed if a bot raises an exception or answers illegally.
    """
    rules = rules_of(ruleset)
    players = rules.ruleset.players
    if len(bots) > players:
        raise PositionError(f"{len(bots)} bots for {players} seats")
    taken = [_seated(bot) for bot in (*bots, *["greedy"] * (players - len(bots)))]
    names = seat_names(
        [bot if isinstance(bot, str) else "bot" for bot in bots] + ["greedy"] * players, range(players)
    )
    info = _session(rules, names, 1)
    played = LocalSession(info, sha256(seed.encode()).digest(), taken).play()
    for failure in played.failures:
        raise BotFailed("\n".join([f"seat {failure.seat}: {failure.text}", *failure.lines]))
    for fault in played.faults:
        raise BotFailed(f"seat {fault.seat}: {fault.kind}: {fault.text}")
    record = full_record(
        json.loads(played.result.records[0]),
        ruleset=rules.ruleset.to_object(),
        tournament=info.tournament,
        round=1,
        table=1,
        session=1,
        seats=list(names),
    )
    timeless = {name: value for name, value in record.items() if name not in TIMES}
    return DealPlayed(played.result.points, timeless, tuple(map(tuple, played.spent)))


def _seated(bot: Bot | str) -> Seated:
    if not isinstance(bot, str):
        return Seated(one_for_all(bot))
    samples = sample_bots()
    if bot not in samples:
        raise PositionError(f"{bot!r} is not a sample bot{suggestion(bot, [*samples])}")
    return Seated(one_for_all(load_file(samples[bot])), home_of(samples[bot]).entered)
