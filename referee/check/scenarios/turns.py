"""Single decisions in positions that are laid out by hand."""

from referee.check.desk import Desk, Group
from referee.check.session import LIMITS, Hands, eager, quiet, scripted, strong_first
from referee.deals.deal import Stage

SMALL: dict[str, object] = {"extends": "chinese", "direction": "clockwise"}
FOUR: Hands = {1: ["3D 3C 4D 4C 5S", None, None, None]}
"""Hands of five cards: seat 0 leads, with a choice."""
FOLLOWING: Hands = {1: ["3D 6D 8C 9D JC", "4D 5C 7H 9S KD", None, None]}
"""Hands of five cards: seat 0 leads a low card, seat 1 may beat it."""


def small(hand_size: int = 5, **fields: object) -> dict[str, object]:
    """Return a ruleset of four players, clockwise, with hands of this size; ``fields`` override the rest."""
    return {**SMALL, "name": f"check-{hand_size}", "hand_size": hand_size, **fields}


def three(hand_size: int = 5, **fields: object) -> dict[str, object]:
    """Return the same for three players."""
    return small(hand_size, name=f"check-three-{hand_size}", players=3, **fields)


group = Group()

ASK_FORCED = LIMITS.model_copy(update={"ask_forced": True})


@group("TURN-01", "Leads", "The bot holds 3D 3C 4D 4C 5S and leads, with the 3D in it.")
async def leads(desk: Desk) -> None:
    await desk.play([desk.session(small(), 0, hands=FOUR)], turns=1)


@group("TURN-02", "Follows or passes", "The 3D was led, and the bot may beat it or pass.")
async def follows(desk: Desk) -> None:
    await desk.play([desk.session(small(), 1, hands=FOLLOWING, others=scripted({0: ["3D"]}))], turns=1)


@group(
    "TURN-03",
    "Leads with the card that it must",
    "must_include is the 3D, the 3S where suits differ or leads, and the 4D; it must be all of one lead.",
)
async def must_include(desk: Desk) -> None:
    spades_first = small(name="check-spades-first", suits=["S", "H", "C", "D"])
    alone = small(name="check-lead-alone", first_lead="3S", lead_includes_lowest="alone")
    no_threes = {1: ["4D 4C 5D 5C 6S", "7D 7C 8D 9H TS", "7H 8C 9D TC QD", "7S 8H 9C JD KC"]}
    sessions = [
        desk.session(small(), 0, hands={1: ["3D 3S 4C 4H 4S", None, None, None]}),
        desk.session(spades_first, 0, hands={1: ["3D 3S 4C 4H 4S", "3C 5D 5H 6D 8S", None, None]}),
        desk.session(small(), 0, hands=no_threes),
        desk.session(alone, 0, hands={1: ["3C 3S 4C 4H 4S", "3D 5D 5H 6D 8S", None, None]}),
    ]
    await desk.play(sessions, turns=1)


@group("TURN-04", "Leads trick after trick", "All others pass, so the bot leads until its cards are gone.")
async def leads_on(desk: Desk) -> None:
    await desk.play([desk.session(small(), 0, hands=FOUR, others=quiet)])


@group(
    "TURN-05",
    "Obeys next_has_one",
    "Under guard: must, the next seat holds one card, in a follow and in leads.",
)
async def guarded(desk: Desk) -> None:
    hands = [
        "3D 4C 4D 5S 6H 7D 9C",
        "3C 3H 3S 6C 8D 8C QC",
        "4H 4S 9D 9H JC JD KC",
        "5C 5D 8H 8S TC QD KH",
    ]
    others = scripted({0: ["3D 4C 5S 6H 7D", "4D"]})
    rules = small(7, name="check-guard", guard="must")
    await desk.play([desk.session(rules, 3, hands={1: hands}, others=others, limits=ASK_FORCED)])


@group(
    "TURN-06",
    "Passes where its top card is banned",
    "top_card_banned with the 2S as the last card, on a play; or with a spade, where no spade may be.",
)
async def banned(desk: Desk) -> None:
    sessions = [
        desk.session(
            small(2, name=f"check-last-{card}", last_top_card="cannot_win", last_cards=cards),
            0,
            hands={1: [f"3D {card}", "5C 9D", "6C TH", "7D JH"]},
            others=eager,
            limits=ASK_FORCED,
        )
        for cards, card in (("top", "2S"), ("S", "KS"))
    ]
    await desk.play(sessions)


@group(
    "TURN-07",
    "Passes a lead where that is all it may",
    "It leads with only the banned 2S: can_pass, nothing to beat.",
)
async def banned_lead(desk: Desk) -> None:
    rules = small(1, last_top_card="cannot_win", lead="winner")
    hands = {1: ["3D", "4C", "5C", "6D"], 2: ["2S", "4C", "5C", "6D"]}
    await desk.play([desk.session(rules, 0, deals=2, hands=hands, limits=ASK_FORCED)])


@group(
    "TURN-08",
    "Passes where only that is legal",
    "With ask_forced it is asked without a choice: it must pass.",
)
async def only_a_pass(desk: Desk) -> None:
    hands = {1: ["3D 3C 5D 7D 9D", "4D 6C 8H TS QD", None, None]}
    session = desk.session(small(), 1, hands=hands, others=scripted({0: ["3D 3C"]}), limits=ASK_FORCED)
    await desk.play([session], turns=1)


@group(
    "TURN-09",
    "Plays where only one play is legal",
    "With ask_forced it is asked without a choice: it must lead the 3D.",
)
async def only_one_play(desk: Desk) -> None:
    hands = {1: ["3D 4C 6H 8S TD", None, None, None]}
    await desk.play([desk.session(small(), 0, hands=hands, limits=ASK_FORCED)], turns=1)


@group(
    "TURN-10",
    "Takes over what was played for it",
    "Forced leads and passes are not asked, and stand among the actions only.",
)
async def forced(desk: Desk) -> None:
    low = {1: ["3D 4C 6H 8S TD", "3C 3H 5D 9C JS", None, None]}
    sessions = [
        desk.session(small(), 0, hands=low, others=quiet),
        desk.session(small(), 0, hands=low, others=eager),
        desk.session(three(), 0, hands={1: ["3D 4C 6H 8S TD", None, None]}, others=quiet, deals=2),
    ]
    await desk.play(sessions)


@group(
    "TURN-11", "Returns a card in the exchange", "It won the last deal, and gives one card of its hand back."
)
async def exchange(desk: Desk) -> None:
    rules = three(exchange="loser_to_winner")
    hands = {1: ["3D 3C 4D 4C 5S", None, None]}
    session = desk.session(rules, 0, deals=2, hands=hands, others=quiet)
    await desk.play([session])
    assert session.kinds[Stage.EXCHANGE] == 1


@group(
    "TURN-12",
    "Takes in what others exchange",
    "It lost and got a card back, and it saw others exchange hidden cards.",
)
async def exchanged(desk: Desk) -> None:
    rules = three(exchange="loser_to_winner")
    straight = "3D 4C 5S 6H 7D"
    sessions = [
        desk.session(
            rules,
            seat,
            deals=3,
            seed="exchanged",
            hands={1: [straight, "8D 9C JS QH 2D", "8C 9H JD QD 2C"]},
            others=scripted({0: [straight]}),
        )
        for seat in (1, 2)
    ]
    await desk.play(sessions)


@group(
    "TURN-13", "May beat its own play", "All others passed, and a turn asks whether it beats its own play."
)
async def beat_own(desk: Desk) -> None:
    rules = {"extends": "indonesia", "name": "check-own", "hand_size": 5, "session": {"deals": 10}}
    hands = {1: ["3D 3C 4D 4C 6S", None, None, None]}
    session = desk.session(rules, 0, hands=hands, others=quiet, limits=ASK_FORCED)
    await desk.play([session])
    assert session.kinds[Stage.BEAT_OWN] > 0


@group(
    "TURN-14", "Answers bomb windows", "After every play it is asked for a bomb, in three sessions at once."
)
async def bombs(desk: Desk) -> None:
    sessions = [desk.session("gamesky", seat) for seat in (0, 1, 2)]
    await desk.play(sessions, turns=12)


@group(
    "TURN-15",
    "Keeps a bomb that came second",
    "Its bomb, if it plays one, is overtaken: the cards stay in its hand.",
)
async def overtaken(desk: Desk) -> None:
    rules = {"extends": "gamesky", "name": "check-bombs", "direction": "clockwise", "hand_size": 8}
    hands = {1: ["3D 5C 7C 8S TD JH 8D QH", "6D 6C 6H 6S 4D QC TC KC", None, "9D 9C 9H 9S 4C KD 7D JD"]}
    others = scripted({0: ["3D"], 1: ["6D 6C 6H 6S 4D"]})
    await desk.play([desk.session(rules, 3, hands=hands, others=others)])


@group(
    "TURN-16",
    "Takes in the cards that it draws",
    "Whoever passes draws; it plays on until all its cards are gone.",
)
async def draws(desk: Desk) -> None:
    rules = {
        "extends": "hong-kong-relatives-3",
        "name": "check-draw",
        "direction": "clockwise",
        "hand_size": 5,
    }
    hands = {
        1: ["3D 3C 4H 2S 2H", "4D 5C 6H 8S 9D", "5D 6C 8H 9S JD"],
        2: ["3D 3C 4H 2S 2H", "4D 5C 6H 8S 9D", "5D 6C 8H 9S JD"],
    }
    others = scripted({0: ["3D", "2S", "2H", "3C"]})
    await desk.play([desk.session(rules, 1, hands=hands, others=others, deals=2)])
    await desk.play([desk.session("hong-kong-relatives-3", seat, others=strong_first) for seat in (0, 1, 2)])
