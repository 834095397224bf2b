"""Whole deals under rulesets of every sort."""

from referee.check.desk import Desk, Group
from referee.check.scenarios.turns import small
from referee.check.session import eager, quiet
from referee.ruleset import preset_names

group = Group()

HOUSE: dict[str, object] = {
    "extends": "chinese",
    "name": "maren-house",
    "version": 7,
    "suits": ["S", "C", "D", "H"],
    "removed_cards": ["3D", "8H"],
    "players": 5,
    "hand_size": 9,
    "direction": "alternating",
    "lead": "loser",
    "dealer": "loser",
    "lead_includes_lowest": False,
    "plays": ["single", "pair", "triple", "straight", "full_house", "bare_quads", "pair_run"],
    "five_card_order": ["full_house", "straight"],
    "kinds_compete": False,
    "straights": [["T J Q K A"], ["3 4 5 6 7", "4 5 6 7 8"], ["A 2 3 4 5"]],
    "bombs": ["bare_quads"],
    "pass_locks": True,
    "guard": "must",
    "last_top_card": "cannot_win",
    "deal_ends": "last_holder",
    "after_out": "next_leads",
}
"""A ruleset that no bot was made for."""


@group(
    "RULES-01",
    "Plays a whole deal",
    "Thirteen cards, from the first lead until somebody goes out, in four seats.",
)
async def whole_deal(desk: Desk) -> None:
    await desk.play([desk.session("chinese", seat) for seat in range(4)])


@group(
    "RULES-02", "Plays with two packs", "Eight players and two copies of every card; hands hold both copies."
)
async def two_packs(desk: Desk) -> None:
    rules = {**small(), "name": "check-two-packs", "decks": 2, "players": 3}
    copies = {1: ["3D 3D 4C 4C 5S", "6D 6D 7H 7H 8S", None]}
    sessions = [desk.session("only-a-game-8", seat) for seat in (0, 5)]
    sessions += [desk.session(rules, seat, hands=copies, others=quiet) for seat in (0, 1)]
    await desk.play(sessions)


@group("RULES-03", "Plays with the 60 tiles", "Five players, ranks up to 15, cards 53 to 60.")
async def tiles(desk: Desk) -> None:
    await desk.play([desk.session("lectio", seat) for seat in (0, 3)])


@group("RULES-04", "Plays with two to eight players", "Seven sessions at once, one of each size of table.")
async def sizes(desk: Desk) -> None:
    rules = [small(6, name=f"check-table-{players}", players=players) for players in range(2, 9)]
    await desk.play(desk.session_of_each(rules, 1))


@group("RULES-05", "Plays in every direction", "Clockwise, anticlockwise, and alternating from deal to deal.")
async def directions(desk: Desk) -> None:
    kinds = ("clockwise", "anticlockwise", "alternating")
    rules = [small(6, name=f"check-{kind}", direction=kind) for kind in kinds]
    await desk.play([desk.session(ruleset, 2, deals=2) for ruleset in rules])


@group(
    "RULES-06",
    "Takes leftover cards",
    "The holder of the lowest card takes the card left over, which all see.",
)
async def leftover(desk: Desk) -> None:
    await desk.play([desk.session("chinese-3", seat, seed="leftover") for seat in (0, 1, 2)])


@group(
    "RULES-07",
    "Plays on after others went out",
    "The deal goes on to the last holder, with or without the bot.",
)
async def last_holder(desk: Desk) -> None:
    rules = small(6, name="check-last-holder", deal_ends="last_holder")
    await desk.play([desk.session(rules, seat, others=eager, deals=2) for seat in (0, 2)])


@group("RULES-08", "Plays every preset", "A session of each preset, all at once, four decisions in each.")
async def presets(desk: Desk) -> None:
    await desk.play(desk.session_of_each(preset_names(), 1), turns=4)


@group(
    "RULES-09",
    "Plays rules never seen",
    "A ruleset of its own name: cards, suits, straights, kinds, bombs and duties; and a dragon in hand.",
)
async def house(desk: Desk) -> None:
    sessions = [desk.session(HOUSE, seat, deals=2) for seat in (0, 3)]
    dragon = "3D 4D 5D 6D 7C 8C 9C TC JH QH KH AS 2S"
    rules = small(13, name="check-dragon", plays=["single", "pair", "dragon"], five_card_order=[])
    await desk.play([*sessions, desk.session(rules, 0, hands={1: [dragon, None, None, None]})])


@group(
    "RULES-10", "Plays with four packs and jokers", "Up to four copies of a card; cards 61 and 62 are jokers."
)
async def four_packs(desk: Desk) -> None:
    rules = {**small(7), "name": "check-four-packs", "decks": 4, "jokers": 2, "players": 3}
    copies = {1: ["3D 3D 3D 3D 4C 4C RJ", "6D 6D 7H 7H BJ RJ RJ", None]}
    await desk.play([desk.session(rules, seat, hands=copies, others=quiet) for seat in (0, 1)])
