"""The bot in one session: events and turns come in, encoded answers go out."""

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from inspect import isawaitable
from typing import Any

from referee.bot.bots import Answer, Bot, finished, is_async
from referee.bot.ended import read_ended_deal, read_ended_session
from referee.bot.evidence import Evidence, Spent
from referee.bot.failing import FAILURES, failing, named, own_calls
from referee.bot.turn import Play, Turn, read_turn
from referee.bot.view import SessionView
from referee.errors import BotFailed
from referee.memo import Memo
from referee.protocol.numbers import BYTES, VARINT, card_numbers, field, head, key, sized
from referee.rules.plays import Rules
from referee.v1 import bots_pb2

log = logging.getLogger("bot")

_MOVE = bots_pb2.Move.DESCRIPTOR
_MOVE_HEAD = head(key(bots_pb2.PlayRequest.DESCRIPTOR, "moves", BYTES))
_SESSION = field(key(_MOVE, "session", VARINT))
_SEQUENCE = field(key(_MOVE, "sequence", VARINT))
_CARDS = key(_MOVE, "cards", BYTES)
_PASSES = key(_MOVE, "passes", VARINT) + b"\1"


@lru_cache(maxsize=64)
def _cards(rules: Rules) -> Memo[int, bytes]:
    """Return a cache of the encoded cards of a move, by their mask."""
    packed = card_numbers(rules).packed
    return Memo(lambda mask: _CARDS + sized(packed(mask)))


class _Function:
    def __init__(self, choose: Callable[[Turn], Any]) -> None:
        self.choose = choose


class _Broken:
    """Stands in for a bot that could not be created for its session: it raises that error at each turn."""

    def __init__(self, error: BaseException) -> None:
        self._error, self._calls = error, error.__traceback__

    def choose(self, turn: Turn) -> Answer:
        raise self._error.with_traceback(self._calls)


class Seat:
    """The bot in one session."""

    __slots__ = ("_cards", "_choose", "_chooser", "_method", "_strict", "_waits", "evidence", "spent", "view")

    def __init__(self, bot: Bot, view: SessionView, *, strict: bool = False) -> None:
        """Seat a bot in a session that it sees in this way."""
        self.view = view
        self.evidence: Evidence | None = None
        """What is kept for the bot's log; None without a log."""
        self.spent = Spent()
        """Where the time of its turns went."""
        self._cards = _cards(self.view.rules)
        self._strict = strict
        self._waits = is_async(bot)
        """Whether answers must be awaited."""
        self._chooser = self._made(bot)
        self._choose: Callable[[Turn], Any] = getattr(self._chooser, "choose", None) or self._alone
        self._method = "choose_many" if self._choose == self._alone else "choose"
        """The method that answers turns of kind ``play``."""

    def _made(self, bot: Bot) -> Any:
        """Return the object that chooses in this session. Raise BotFailed if a strict bot creates none."""
        if not isinstance(bot, type):
            return bot if hasattr(bot, "choose_many") else _Function(bot)
        try:
            made = bot()
            _ = getattr(made, "choose_many", None) or made.choose
        except FAILURES as error:
            _log(error, "the bot failed at the start of session %s", self.view.session_id)
            if self._strict:
                raise _failed(error) from error
            return _Broken(error)
        return made

    def deal_started(self, started: bots_pb2.DealStarted) -> None:
        """Take in the beginning of a deal."""
        self.view.deal_started(started)

    def deal_ended(self, ended: Any) -> None:
        """Take in the end of a deal, a lazy message."""
        self.view.happened(ended.actions[:])
        if self.evidence is not None:
            self.evidence.deal_ended(self.view, ended)
        self.view.deal_ended(ended)
        self._tell("deal_ended", lambda: read_ended_deal(self.view, ended))

    def session_ended(self, ended: bots_pb2.SessionEnded) -> None:
        """Take in the end of the session."""
        self._tell("session_ended", lambda: read_ended_session(self.view, ended))

    def _tell(self, hook: str, value: Callable[[], object]) -> None:
        """Call a method of the bot, if it has it. Raise BotFailed if that of a strict bot fails."""
        if getattr(self._chooser, hook, None) is None:
            return
        try:
            self.tell(hook, value())
        except FAILURES as error:
            _log(error, "the bot failed in %s: %s deal %d", hook, self.view.session_id, self.view.deal)
            if self._strict:
                raise _failed(error) from error

    def tell(self, hook: str, value: object) -> None:
        """Call a method that the bot has. Let through whatever it raises."""
        getattr(self._chooser, hook)(value)

    def answer(self, message: Any) -> bytes:
        """Return a PlayRequest with the move that answers a lazy turn.

        Concatenated, such messages are one message with all their moves. If the bot raises an exception or
        answers with a wrong type, the move says so, which is a fault; in strict mode, raise BotFailed.
        """
        turn = self.turn_of(message)
        try:
            mask = self.decide(turn)
        except FAILURES as error:
            return self._failure(message, turn, error)
        return self._move(message, mask)

    def turn_of(self, message: Any) -> Turn:
        """Return the turn in a lazy message, after taking in what has happened since the last one."""
        turn = read_turn(self.view, message)
        self.view.happened(message.actions[:])
        return turn

    def reply(self, message: Any, turn: Turn, answer: object) -> bytes:
        """Return what ``answer`` does for a bot that was asked elsewhere; an exception is what it raised."""
        try:
            if isinstance(answer, FAILURES):
                raise answer
            mask = self._mask(answer, self._method)
        except FAILURES as error:
            return self._failure(message, turn, error)
        return self._move(message, mask)

    def answer_of(self, turn: Turn) -> object:
        """Return the bot's answer to a turn of kind ``play``, which may have to be awaited."""
        return self._choose(turn)

    def _move(self, message: Any, mask: int) -> bytes:
        move = _SESSION[message.session] + _SEQUENCE[message.sequence]
        move += self._cards[mask] if mask else _PASSES
        return _MOVE_HEAD[len(move)] + move

    def _failure(self, message: Any, turn: Turn, error: BaseException) -> bytes:
        _log(error, "the bot failed: %s", turn)
        if self._strict:
            raise _failed(error) from error
        return failing(message.session, message.sequence, error)

    def decide(self, turn: Turn) -> int:
        """Return the mask of the cards with which the bot answers a turn, 0 for a pass.

        Let through whatever the bot raises; raise TypeError or CardError for what is not an answer.
        """
        plays = turn.kind == "play"
        answer = self._choose(turn) if plays else self._special(turn)
        if (self._waits or not plays) and isawaitable(answer):
            answer = finished(answer)
        return self._mask(answer, self._method if plays else turn.kind)

    def _alone(self, turn: Turn) -> Any:
        """Return the answer to one turn from a bot with ``choose_many``."""
        answers: Any = self._chooser.choose_many([turn])
        if isawaitable(answers):
            answers = finished(answers)
        [answer] = answers
        if isinstance(answer, FAILURES):
            raise answer
        return answer

    def _special(self, turn: Turn) -> Any:
        """Return the answer to a turn of a kind other than ``play``."""
        method: Callable[[Turn], Any] | None = getattr(self._chooser, turn.kind, None)
        if method is not None:
            return method(turn)
        if turn.can_pass:
            return None
        return turn.hand[0] if turn.kind == "exchange" else turn.legal[0]

    def _mask(self, answer: object, method: str) -> int:
        """Return the mask of an answer, 0 for a pass. Raise TypeError or CardError for what is not an answer.

        ``method`` is the one that returned it.
        """
        if answer is None:
            return 0
        if isinstance(answer, Play):
            return answer.code & self.view.rules.full
        if isinstance(answer, str):
            return self.view.rules.parse(answer)
        if isinstance(answer, Sequence) and all(isinstance(card, str) for card in answer):
            return self.view.rules.parse(" ".join(answer))
        raise TypeError(f"{method} returned {_kind(answer)}; a Play, text, list or None is expected")


def hooks(bot: Bot) -> bool:
    """Return whether a bot has methods that are called when a deal or a session has ended."""
    return hasattr(bot, "deal_ended") or hasattr(bot, "session_ended")


def _log(error: BaseException, text: str, *values: object) -> None:
    """Log a failure of the bot's own code, with only the calls in that code."""
    log.error(text, *values, exc_info=(type(error), error, own_calls(error)))


def _failed(error: BaseException) -> BotFailed:
    return BotFailed(f"the bot's own code failed: {named(error)}")


def _kind(answer: object) -> str:
    """Describe the type of a wrong answer; for a list, with that of its first wrong element."""
    kind = type(answer).__name__
    if isinstance(answer, Sequence):
        wrong = next(type(card).__name__ for card in answer if not isinstance(card, str))
        return f"a {kind} with {wrong} in it"
    return kind


class UnreadSeat:
    """The bot in a session that the SDK cannot read: it takes the default action as far as it can tell.

    It passes if it may. Otherwise it plays the card that the play must contain, or its lowest card, which
    nearly every ruleset allows as a lead.
    """

    def __init__(self, seat: int, hand: Sequence[int] = (), *, evidence: Evidence | None = None) -> None:
        self.evidence = evidence
        if evidence is not None:
            evidence.broken()
        self.spent = Spent()
        self._seat = seat
        self._hand = list(hand)

    def deal_started(self, started: bots_pb2.DealStarted) -> None:
        """Take in the beginning of a deal."""
        self._hand = list(started.hand)

    def deal_ended(self, ended: Any) -> None:
        """Do nothing at the end of a deal."""

    def answer(self, message: Any) -> bytes:
        """Return a PlayRequest with the move that answers a lazy turn."""
        turn = bots_pb2.Turn.FromString(message.SerializeToString())
        for action in turn.actions:
            self._happened(action)
        move = bots_pb2.Move(session=turn.session, sequence=turn.sequence)
        if turn.can_pass or not self._hand:
            move.passes = True
        else:
            move.cards.append(turn.must_include or min(self._hand))  # type: ignore[arg-type]
        return bots_pb2.PlayRequest(moves=[move]).SerializeToString()

    def _happened(self, action: bots_pb2.Action) -> None:
        exchange = action.kind == bots_pb2.ACTION_KIND_EXCHANGE
        if action.seat == self._seat:
            for card in action.cards:
                if card in self._hand:
                    self._hand.remove(card)
            self._hand.extend(action.drawn_cards)
        elif exchange and action.partner == self._seat:
            self._hand.extend(action.cards)
