"""What a bot holds after each message of a deal: exchanges, draws, leftover cards, bombs, resumes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from referee.bot.view import SessionView
from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.deals.dealing import Dealt
from referee.matches.events import log_length
from referee.protocol.numbers import card_numbers
from referee.protocol.wire import add_actions
from referee.records.record import DIRECTIONS
from referee.rules.plays import Rules
from referee.v1 import bots_pb2
from tests.vectors.dice import Dice
from tests.vectors.files import CARDS, RULESET, SEAT, WHOLE, Case, VectorFile, array, maybe, record
from tests.vectors.rulesets import TWO_PACKS, rules_named

Message = dict[str, Any]

KINDS = {
    "play": bots_pb2.ACTION_KIND_PLAY,
    "pass": bots_pb2.ACTION_KIND_PASS,
    "bomb": bots_pb2.ACTION_KIND_BOMB,
    "exchange": bots_pb2.ACTION_KIND_EXCHANGE,
}
"""The kinds of actions by the names that the vectors use."""


# What is expected


def answer(given: Mapping[str, Any]) -> list[dict[str, object]]:
    """Return what the SDK's view makes of the messages: after each, what is held and what is to be beaten."""
    rules = rules_named(given["ruleset"])
    players = rules.ruleset.players
    view = SessionView(rules, "", "", [""] * players, given["seat"], 1, [0] * players)
    answers: list[dict[str, object]] = []
    for message in given["messages"]:
        if message["says"] == "deal":
            view.begin(
                1,
                rules.parse(message["hand"]),
                message["hand_sizes"],
                dealer=message["dealer"],
                clockwise=message["direction"] == "clockwise",
                shown=rules.parse(message["shown"]),
            )
        elif message["says"] == "actions":
            view.happened([_encoded(rules, action) for action in message["actions"]])
        answers.append(
            {
                "hand": rules.text(view.hand),
                "counts": [*view.counts],
                "to_beat": rules.text(view.public.to_beat),
                "out": [*view.public.out],
            }
        )
    return answers


def _encoded(rules: Rules, given: Mapping[str, Any]) -> bytes:
    numbers = card_numbers(rules).numbers
    action = bots_pb2.Action(seat=given["seat"], kind=KINDS[given["kind"]])
    action.cards.extend(numbers(rules.parse(given["cards"])))
    action.drawn = given["drawn"]
    action.drawn_cards.extend(numbers(rules.parse(given["drawn_cards"])))
    if given["partner"] is not None:
        action.partner = given["partner"]
    return action.SerializeToString()


# Messages


class Told:
    """A deal as its seats are told of it: each gets what happened when it is asked, and at the end."""

    def __init__(self, deal: Deal) -> None:
        self._deal = deal
        self._rules = deal.rules
        seats = range(len(deal.hands))
        self._messages: dict[int, list[Message]] = {seat: [self._begins(seat)] for seat in seats}
        self._since = dict.fromkeys(seats, 0)

    def messages(self, seat: int) -> list[Message]:
        """Return what the seat has been told."""
        return self._messages[seat]

    def tell(self, seat: int) -> None:
        """Tell a seat what it does not know yet."""
        self._messages[seat].append({"says": "actions", "actions": self._actions(seat, self._since[seat])})
        self._since[seat] = log_length(self._deal)

    def answers(self, seat: int, cards: str) -> None:
        """Note what the seat itself answers, which is nothing that has happened yet."""
        self._messages[seat].append({"says": "answer", "cards": cards})

    def resume(self, seat: int) -> None:
        """Tell a seat everything again, as after a lost connection."""
        self._messages[seat].append(self._begins(seat))
        self._since[seat] = 0
        self.tell(seat)

    def _begins(self, seat: int) -> Message:
        deal, rules = self._deal, self._rules
        hands = deal.start if deal.exchange is None else deal.opening
        shown = rules.joined(deal.undealt) if rules.ruleset.leftover_shown else 0
        return {
            "says": "deal",
            "hand": rules.text(hands[seat]),
            "hand_sizes": [hand.bit_count() for hand in hands],
            "dealer": deal.dealer,
            "direction": DIRECTIONS[deal.step],
            "shown": rules.text(shown),
        }

    def _actions(self, seat: int, since: int) -> list[Message]:
        turn, numbers = bots_pb2.Turn(), card_numbers(self._rules)
        add_actions(turn.actions, numbers, self._deal, since, seat)
        names = {number: name for name, number in KINDS.items()}
        return [
            {
                "seat": action.seat,
                "kind": names[action.kind],
                "cards": self._rules.text(numbers.mask(action.cards)),
                "drawn": action.drawn,
                "drawn_cards": self._rules.text(numbers.mask(action.drawn_cards)),
                "partner": action.partner if action.HasField("partner") else None,
            }
            for action in turn.actions
        ]


def _play(deal: Deal, dice: Dice, resumed: Sequence[int] = (), steps: int = 1000) -> Told:
    """Play a deal by lot, and tell its seats; those of ``resumed`` lose their connection halfway."""
    told = Told(deal)
    number = 0
    while not deal.over and number < steps:
        number += 1
        seat = deal.owing()[0]
        if number == 9:
            for lost in resumed:
                told.resume(lost)
        told.tell(seat)
        choices = deal.choices(seat)
        plays = choices[:-1] if choices[-1] == 0 and len(choices) > 1 and dice.below(3) else choices
        code = dice.one(plays) & deal.rules.full
        if deal.stage is Stage.BOMBS:
            told.answers(seat, deal.rules.text(code))
        deal.act(seat, code)
    for seat in range(len(deal.hands)):
        told.tell(seat)
    return told


def _dealt(rules: Rules, number: int = 1, **also: Any) -> Deal:
    return Deal(rules, bytes([number]) * 32, 1, 0, 1, **also)


# Cases


def cases() -> Iterator[Case]:
    """Yield deals as one of their seats is told of them."""
    for make in (_exchanges, _draws, _leftover, _at_once, _bombs, _resumes, _packs):
        for name, about, seat, messages in make():
            yield about, {"ruleset": name, "seat": seat, "messages": messages}


Followed = tuple[str, str, int, list[Message]]

EXCHANGE = "chinese/hand_size=6/exchange=loser_to_winner/lead=winner"
DRAW_ONE = "hong-kong-relatives-3/hand_size=5"
DRAW_AS_NEEDED = "hong-kong-relatives-3/hand_size=5/draw_on_pass=as_needed/restock=true"
RESTOCK = "hong-kong-relatives-3/hand_size=15/draw_on_pass=as_needed/restock=true"
LEFTOVER_SHOWN = "chinese-3"
LEFTOVER_HIDDEN = "chinese-3/leftover_shown=false"
DRAGON = "hong-kong"
BOMBS = "gamesky"
LAST_HOLDER = "choi-dai-di/hand_size=5/pass_locks=true/after_out=next_leads"


def _exchanges() -> Iterator[Followed]:
    rules = rules_named(EXCHANGE)
    deal = _dealt(rules, 1, leader=1, exchange=(2, 1))
    told = _play(deal, Dice("vectors/follow/exchange"), steps=9)
    roles = {1: "the winner, which gets a card and returns one", 2: "the loser, which gives its highest card"}
    for seat in (0, 1, 2):
        role = roles.get(seat, "neither of the two, which sees no card")
        yield EXCHANGE, f"an exchange, seen by {role}", seat, told.messages(seat)


def _draws() -> Iterator[Followed]:
    for name in (DRAW_ONE, DRAW_AS_NEEDED):
        for number in (1, 2):
            told = _play(_dealt(rules_named(name), number), Dice(f"vectors/follow/{name}/{number}"), steps=40)
            for seat in (0, 1):
                yield name, "own draws are seen, those of others only counted", seat, told.messages(seat)


def _leftover() -> Iterator[Followed]:
    for name in (LEFTOVER_SHOWN, LEFTOVER_HIDDEN):
        deal = _dealt(rules_named(name))
        told = _play(deal, Dice(f"vectors/follow/{name}"), steps=6)
        taker = max(range(3), key=lambda seat: deal.start[seat].bit_count())
        yield name, "the cards left over are in the hand that is dealt", taker, told.messages(taker)
        yield (
            name,
            "another seat has taken the cards left over",
            (taker + 1) % 3,
            told.messages((taker + 1) % 3),
        )


def _at_once() -> Iterator[Followed]:
    rules = rules_named(DRAGON)
    dragon = rules.mask([4 * rank + rank % 4 for rank in range(13)])
    rest = [card for card in rules.pack if not rules.mask([card]) & dragon]
    hands = (dragon, *(rules.mask(rest[at::3]) for at in range(3)))
    told = _play(_dealt(rules, dealt=Dealt(hands, (), hands)), Dice("vectors/follow/dragon"))
    yield DRAGON, "a dragon wins at once: nobody acts", 0, told.messages(0)
    yield DRAGON, "another seat's dragon wins at once", 1, told.messages(1)


def _bombs() -> Iterator[Followed]:
    rules = rules_named(BOMBS)
    hands = ("3D 4D 4C", "5D 5C 5H 5S 6D 8D", "7D 7C 7H 7S 6C 8C", "9D 9C 9H 9S 6H TD")
    masks = tuple(map(rules.parse, hands))
    deal = _dealt(rules, leader=0, dealt=Dealt(masks, (), masks))
    told = Told(deal)
    first = {1: "5D 5C 5H 5S 6D", 2: "7D 7C 7H 7S 6C", 3: ""}
    then = {2: "", 3: "9D 9C 9H 9S 6H", 0: ""}
    told.tell(0)
    deal.act(0, rules.parse("3D"))
    for given in (first, then):
        for seat, cards in given.items():
            told.tell(seat)
            told.answers(seat, cards)
            deal.act(seat, rules.parse(cards))
    for seat in deal.owing():
        told.tell(seat)
        told.answers(seat, "")
        deal.act(seat, 0)
    for seat in range(4):
        told.tell(seat)
    abouts = {
        0: "bombed out of turn",
        1: "a bomb that is played, and overtaken by another",
        2: "a bomb that another seat's takes precedence of: it stays in the hand",
        3: "a bomb that wins",
    }
    for seat, about in abouts.items():
        yield BOMBS, about, seat, told.messages(seat)


def _resumes() -> Iterator[Followed]:
    for name in (EXCHANGE, DRAW_AS_NEEDED, LEFTOVER_SHOWN, TWO_PACKS, LAST_HOLDER):
        exchange = {"leader": 1, "exchange": (2, 1)} if name == EXCHANGE else {}
        told = _play(
            _dealt(rules_named(name), 3, **exchange), Dice(f"vectors/resume/{name}"), (1, 2), steps=16
        )
        for seat in (1, 2):
            about = "after a lost connection, the deal and all its actions are told again"
            yield name, about, seat, told.messages(seat)


def _packs() -> Iterator[Followed]:
    for name in (TWO_PACKS, LAST_HOLDER, "lectio"):
        for number in (4, 5):
            told = _play(_dealt(rules_named(name), number), Dice(f"vectors/packs/{name}/{number}"), steps=30)
            yield name, "plays and passes to the end of tricks", number - 4, told.messages(number - 4)


MESSAGE = {
    "oneOf": [
        record(
            says={"const": "deal"},
            hand=CARDS,
            hand_sizes=array(WHOLE),
            dealer=SEAT,
            direction={"enum": ["clockwise", "anticlockwise"]},
            shown=CARDS,
        ),
        record(
            says={"const": "actions"},
            actions=array(
                record(
                    seat=SEAT,
                    kind={"enum": [*KINDS]},
                    cards=CARDS,
                    drawn=WHOLE,
                    drawn_cards=CARDS,
                    partner=maybe(SEAT),
                )
            ),
        ),
        record(says={"const": "answer"}, cards=CARDS),
    ]
}

FILE = VectorFile(
    name="follow",
    about="The messages that a bot gets in a deal: the deal's start (DealStarted), what happened (the "
    "actions of turns and of the end), and what the bot itself answers, which has not happened yet. "
    "Expected is, after each message, its hand, the number of cards of all seats, the play to beat "
    "(empty: a lead comes next), and the seats without cards in the order of going out.",
    answer=answer,
    cases=cases,
    input=record(ruleset=RULESET, seat=SEAT, messages=array(MESSAGE)),
    expected=array(record(hand=CARDS, counts=array(WHOLE), to_beat=CARDS, out=array(SEAT))),
)
