"""Bots that answer turns wrongly, or do not know the rules well enough."""

from collections.abc import Iterable
from typing import Any

from referee.v1 import bots_pb2
from tests.referee.good_bots import GoodBot, RulesBot, Seat

# Single turns


class Passive(GoodBot):
    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        return bots_pb2.Move(session=turn.session, sequence=turn.sequence, passes=True)


class Mute(GoodBot):
    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        return ()


class Thief(GoodBot):
    """Plays a card that it does not hold, whatever it is asked."""

    def pick(self, turn: bots_pb2.Turn) -> Iterable[Any]:
        return [52]


class Both(GoodBot):
    """Both names cards and passes."""

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        move = super().move(turn)
        move.passes = True
        return move


class Heedless(RulesBot):
    """Ignores a field that limits what it may play; of the fewest cards, it plays the strongest."""

    unseen = ""

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        bare = bots_pb2.Turn()
        bare.CopyFrom(turn)
        bare.ClearField(self.unseen)  # type: ignore[arg-type]
        full = seat.rules.full
        return sorted(seat.legal(bare), key=lambda code: ((code & full).bit_count(), -code))


class LeadsAnything(Heedless):
    unseen = "must_include"


class NoGuard(Heedless):
    """Plays its weakest single, although the guard forbids it."""

    unseen = "next_has_one"

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        full = seat.rules.full
        return sorted(super().codes(seat, turn), key=lambda code: ((code & full).bit_count(), code))


class NoBan(Heedless):
    unseen = "top_card_banned"


class Unforced(GoodBot):
    """Assumes that it is never asked when it can only pass."""

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        if not turn.legal_plays:
            raise ValueError("nothing to choose")
        return super().move(turn)


class OwnPlaysOnly(RulesBot):
    """Removes cards from its hand when it answers, instead of when it is told of the action."""

    class knows(Seat):
        def own(self, played: int, drawn: int) -> None:
            super().own(0, drawn)

    def decide(self, seat: Seat, turn: bots_pb2.Turn) -> bots_pb2.Move:
        move = super().decide(seat, turn)
        Seat.own(seat, seat.cards.mask(move.cards), 0)
        return move


class OwnExchangeOnly(RulesBot):
    class knows(Seat):
        def exchanged(self, action: bots_pb2.Action, card: int) -> None:
            if action.seat == self.seat:
                super().exchanged(action, card)


class NoExchange(RulesBot):
    """Passes when it must return a card."""

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        return [] if turn.kind == bots_pb2.TURN_KIND_EXCHANGE else seat.legal(turn)


class Repeats(GoodBot):
    """Plays its last play again when it may beat it."""

    def pick(self, turn: bots_pb2.Turn) -> Iterable[Any]:
        return turn.to_beat if turn.kind == bots_pb2.TURN_KIND_BEAT_OWN else super().pick(turn)


class BombsAnything(RulesBot):
    """Plays any cards when it is asked for a bomb."""

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        if turn.kind == bots_pb2.TURN_KIND_BOMB:
            return seat.rules.list_plays(seat.hand)
        return seat.legal(turn)


class NoDraws(RulesBot):
    class knows(Seat):
        def own(self, played: int, drawn: int) -> None:
            super().own(played, 0)


# Rules


class OneCopy(RulesBot):
    """Holds its cards as a set."""

    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            single = bots_pb2.DealStarted()
            single.CopyFrom(started)
            single.hand[:] = sorted(set(started.hand))
            super().deal_started(single)


class NoTiles(RulesBot):
    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            if max(started.hand) > 52:
                raise ValueError("no such card")
            super().deal_started(started)


class FourSeats(RulesBot):
    def start(self, started: bots_pb2.SessionStarted) -> None:
        _, _, _, _ = started.seats
        super().start(started)


class Clockwise(RulesBot):
    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            if started.direction != bots_pb2.DIRECTION_CLOCKWISE:
                raise ValueError("no such direction")
            super().deal_started(started)


class NoLeftover(RulesBot):
    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            if len(set(started.hand_sizes)) > 1:
                raise ValueError("hands differ")
            super().deal_started(started)


class FirstOut(RulesBot):
    class knows(Seat):
        def deal_ended(self, ended: bots_pb2.DealEnded) -> None:
            if len(ended.out) > 1:
                raise ValueError("only one can go out")
            super().deal_ended(ended)


class ChineseOnly(RulesBot):
    """Plays by its own rules, whatever the session's are."""

    def start(self, started: bots_pb2.SessionStarted) -> None:
        chinese = bots_pb2.SessionStarted()
        chinese.CopyFrom(started)
        chinese.ruleset = '{"name": "chinese"}'
        super().start(chinese)
