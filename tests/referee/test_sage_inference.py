"""Tests for what sage infers from plays, and for how seats act in its playouts."""

from itertools import count
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.deals.deal import Deal
from referee.position import Position
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset, preset_names
from referee.sage.inference import Decision, Inference, decisions
from referee.sage.plans import planner_of
from referee.sage.playouts import is_quick
from referee.sage.policy import Scored, Thrifty
from referee.sage.search import FIRST, Tree
from tests.examples import examples

RULES = compile_ruleset(load_ruleset("chinese"))
ALL = {name: compile_ruleset(load_ruleset(name)) for name in preset_names()}
ONE_PACK = [name for name, rules in ALL.items() if is_quick(rules) and rules.decks == 1]


def code(cards: str) -> int:
    return RULES.code(RULES.parse(cards))


def text(code: int) -> str:
    return RULES.text(code & RULES.full)


def units(*cards: str) -> list[int]:
    return sorted(map(code, cards))


def hands(*cards: str) -> list[int]:
    return [RULES.parse(some) for some in cards]


def inference(position: Position, seat: int, seed: int = 1) -> Inference:
    rules = position.rules
    planner, random = planner_of(rules), Random(seed)
    own = Scored(rules, lambda hand, code: 0.0)
    return Inference(position, seat, position.worlds.sample(random), planner, random, own)


def seen_by(deal: Deal, seat: int) -> Position:
    """Return what ``seat`` sees of a deal in which nobody has drawn cards."""
    rules, played = deal.rules, [0] * len(deal.hands)
    for other, mask, _, _ in deal.log:
        played[other] |= mask
    return Position.seen(
        rules,
        step=deal.step,
        dealer=deal.dealer,
        leader=deal.leader if deal.leader is not None else deal.turn,
        hands=[
            (deal.start[other], 0) if other == seat else (played[other], rules.count(hand))
            for other, hand in enumerate(deal.hands)
        ],
        actions=[(other, mask, False) for other, mask, _, _ in deal.log],
        include=deal.must_include,
    )


def test_decisions_say_what_a_seat_did_and_what_it_knew() -> None:
    position = Position.parse(
        "chinese@1; clockwise; dealer 0; leader 1; hands ?4 / 3D 4H 9S 9H KD / 5D ?1 / 8D ?4; "
        "actions 1:3D, 2:5D, 3:8D, 0:-, 1:KD, 2:-"
    )
    mine, theirs = decisions(position, 1)[1], decisions(position, 1)
    assert mine == []
    assert theirs[2] == [
        Decision(0, code("KD"), 0, False),
        Decision(RULES.parse("5D"), code("3D"), code("5D"), False),
    ]
    assert theirs[3] == [Decision(RULES.parse("8D"), code("5D"), code("8D"), True)]
    assert theirs[0] == [Decision(0, code("8D"), 0, True)]


@examples(40)
@given(st.sampled_from(ONE_PACK), st.integers(0, 1 << 30), st.integers(0, 40))
def test_worlds_agree_with_what_was_seen(name: str, seed: int, actions: int) -> None:
    rules, random = ALL[name], Random(seed)
    deal = Deal(rules, seed.to_bytes(32, "big"), 1, 0, 1)
    for _ in range(actions):
        if not deal.over:
            deal.act(deal.turn, random.choice(deal.choices(deal.turn)) & rules.full)
    if deal.over:
        return
    seat = deal.turn
    position = seen_by(deal, seat)
    inferred = inference(position, seat, seed)
    inferred.prepare(count().__next__, 3)
    for _ in range(3):
        world = inferred.sample()
        assert world.hands[seat] == deal.hands[seat]
        assert list(map(rules.count, world.hands)) == list(map(rules.count, deal.hands))
        together = sum(world.hands)
        assert rules.count(together) == sum(map(rules.count, deal.hands))
        assert not together & sum([mask for _, mask, _, _ in deal.log])
        assert len(inferred.manners()) == len(deal.hands)


def test_worlds_when_a_seat_led_a_low_card_then_it_has_fewer_pairs() -> None:
    """A thrifty seat would have led a pair."""
    position = Position.parse(
        "chinese-2@1; clockwise; dealer 0; leader 1; "
        "hands 4H 5D ?3 / 3C 4C 5H 6H 8C TC JC QH KD AS 2C 2S; actions 1:3C, 0:4H, 1:-, 0:5D"
    )
    inferred, random = inference(position, 1), Random(1)
    inferred.prepare(count().__next__, 1 << 20)

    def pairs(hand: int) -> int:
        return sum([(hand & rank).bit_count() > 1 for rank in position.rules.rank_masks])

    few = sum([pairs(inferred.sample().hands[0]) for _ in range(400)])
    many = sum([pairs(position.sample(random, weighs_passes=True).hands[0]) for _ in range(400)])
    assert few < 0.7 * many


THRIFTY = Thrifty(planner_of(RULES))


@pytest.mark.parametrize(
    ("others", "led"),
    [("4S 5S 6H", "4D 4C"), ("4S 5S", "KD KC")],
    ids=["calm", "somebody is nearly out"],
)
def test_thrifty_when_it_leads_then_its_largest_unit(others: str, led: str) -> None:
    mine = units("3D", "4D 4C", "KD KC", "2S")
    held = hands("3D 4D 4C KD KC 2S", others, others, others)
    assert text(THRIFTY.lead(mine, held, 0, held[1], lambda: 0.0)) == led
    assert code(led) not in mine


@pytest.mark.parametrize(
    ("others", "to_beat", "played"),
    [
        ("4S 5S 6H", "5D", "9D"),
        ("4S 5S 6H", "9S", "-"),
        ("4S 5S", "9S", "KC"),
        ("4S 5S", "2S", "-"),
        ("4S 5S", "3C 3S", "KD KC"),
    ],
)
def test_thrifty_when_it_follows_then_with_its_weakest_unit_unless_somebody_is_nearly_out(
    others: str, to_beat: str, played: str
) -> None:
    mine = units("4D 4C", "9D", "KD KC")
    held = hands("4D 4C 9D KD KC", others, others, others)
    found = THRIFTY.follow(mine, held, 0, code(to_beat), lambda: 0.0)
    assert (text(found) or "-") == played
    assert sum([unit & RULES.full for unit in mine]) == held[0] ^ found & RULES.full


def by_size(hand: int, code: int) -> float:
    return -(code & RULES.full).bit_count()


def test_scored_makes_the_play_that_its_score_prefers() -> None:
    scored = Scored(RULES, by_size)
    held = hands("3D 9S 9H", "4S 5S")
    assert text(scored.lead([], held, 0, held[1], lambda: 0.0)) == "9H 9S"
    assert text(scored.follow([], held, 0, code("4D"), lambda: 0.0)) == "9H"


def first_tried(tree: Tree, rules: Rules, worths: dict[str, int], times: int) -> list[str]:
    """Return what the tree leads in ``times`` playouts, each of which is worth ``worths`` of the lead."""
    held, found = hands("3D 9S 9H", "4S 5S"), []
    for _ in range(times):
        found.append(rules.text(tree.lead([], held, 0, held[1], lambda: 0.0) & rules.full))
        tree.learn(worths.get(found[-1], 0))
    return found


def test_tree_when_another_action_does_better_then_it_turns_to_it() -> None:
    tree = Tree(Scored(RULES, by_size), RULES.full)
    tried = first_tried(tree, RULES, {"3D": 10}, 400)
    assert tried[:FIRST] == ["9H 9S"] * FIRST
    assert tried[-100:].count("3D") > 80


def test_tree_when_the_preferred_action_does_best_then_it_stays_with_it() -> None:
    tree = Tree(Scored(RULES, by_size), RULES.full)
    assert first_tried(tree, RULES, {"9H 9S": 10}, 400)[-100:].count("9H 9S") > 80
