"""Tests for sage: its plays are legal under every preset; its proofs, its playouts and its clock."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, cycle
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.sage import play_session
from referee.bot import Play, Turn
from referee.bot.bots import Bot
from referee.deals.deal import Deal
from referee.helpers.decompose import Decomposer
from referee.helpers.unseen import Unseen
from referee.position import Position
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from referee.sage import bot
from referee.sage.endings import Endings
from referee.sage.plans import planner_of
from referee.sage.playouts import Careful, Quick, Start, is_quick
from referee.sage.policy import Policy
from referee.sage.sage import USUAL, Sage, Style, run_out
from referee.sage.search import FEW_CARDS, NODES_A_SECOND, Search, is_known
from referee.worlds import World
from tests.examples import examples
from tests.referee.deals import NAMES, VARIED, deal_of, rules_named, rules_with

RULES = compile_ruleset(load_ruleset("chinese"))
QUICK = [name for name in NAMES if is_quick(rules_named(name))]


def sage(rules: Rules) -> Sage:
    """Return a sage for which a second passes whenever it looks at the clock."""
    return Sage(rules, Random(1), count().__next__)


def weakest(turn: Turn) -> Play | None:
    return turn.legal[0] if turn.legal else None


HOUSE: list[dict[str, object]] = [
    {"decks": 4, "jokers": 2, "players": 3, "session": {"deals": 2}},
    {"decks": 3, "removed_cards": ["3D", "3C", "3H", "3S", "2S"], "players": 8, "session": {"deals": 2}},
    {"removed_cards": ["3D", "3C", "3H"], "jokers": 1, "hand_size": "all", "bombs": ["quads"]},
]
"""Rulesets with packs that no preset has."""


@pytest.mark.parametrize("name", [*VARIED, *HOUSE], ids=str)
def test_sage_when_it_plays_any_ruleset_then_all_its_plays_are_legal(name: str | dict[str, object]) -> None:
    rules = rules_named(name) if isinstance(name, str) else compile_ruleset(load_ruleset(name))
    player, searches = sage(rules), 0

    def choose(turn: Turn) -> Play | None:
        nonlocal searches
        position = turn.position()
        chosen = player.choose(position, turn.seat, turn.legal_codes, turn.can_pass, 1)
        searches += player.search is not None
        return Play(rules, chosen) if chosen else None

    played = play_session(rules, bytes(32), [choose, *[weakest] * (rules.ruleset.players - 1)])
    assert (played.faults, played.failures) == ([], [])
    assert searches > 0


@pytest.mark.parametrize(
    "fields",
    [
        {"players": 3, "hand_size": 17, "exchange": "loser_to_winner"},
        {"extends": "hong-kong-relatives-3", "draw_on_pass": "as_needed", "restock": True},
        {
            "guard": "must",
            "last_top_card": "cannot_win",
            "bombs": ["quads", "straight_flush"],
            "bombs_out_of_turn": True,
        },
        {
            "extends": "chinese-3",
            "plays": ["single", "pair", "dragon"],
            "five_card_order": [],
            "instant_wins": ["six_pairs"],
            "honours_left": [{"honour": "twos", "times": 2}],
            "final_honours": [{"honour": "top_card", "points": 5}],
        },
    ],
    ids=["exchange", "restock", "bombs", "dragons"],
)
def test_bot_when_rules_are_rare_then_it_makes_no_fault(fields: dict[str, object]) -> None:
    rules = rules_with(**fields)

    class Hasty(bot.SageBot):
        level_ms = 5
        style = Style(candidates=3)

    bots: list[Bot] = [Hasty, *[weakest] * (rules.ruleset.players - 1)]
    played = play_session(rules, bytes(32), bots, deals=2)
    assert (played.faults, played.failures) == ([], [])


def hand_and_codes(hand: str, to_beat: str = "") -> tuple[int, list[int]]:
    mask = RULES.parse(hand)
    codes = RULES.list_plays(mask)
    return mask, RULES.following(codes, RULES.code(RULES.parse(to_beat))) if to_beat else codes


@pytest.mark.parametrize(
    ("hand", "to_beat", "unseen", "play"),
    [
        ("2S 3D", "", "2H 4D 5D", "2S"),
        ("2S 2D 3D", "AS", "2C 4D 5D", ""),
        ("2S 2H 3D 3C", "KS KH", "2D 4D 5D 5C", "2H 2S"),
        ("3D 4C 5H 6S 7D 9S", "", "2D 4D 5D 5C", "3D 4C 5H 6S 7D"),
        ("3D 4C 5H 6S 7D 9S TS", "", "2D 4D 5D 5C", ""),
        ("3D 2S", "AS", "4D 2H", "2S"),
    ],
)
def test_run_out_when_all_but_one_unit_are_boss_then_a_boss_is_played(
    hand: str, to_beat: str, unseen: str, play: str
) -> None:
    mask, codes = hand_and_codes(hand, to_beat)
    others = RULES.parse(unseen)
    found = run_out(RULES, mask, codes, Decomposer(RULES, mask), Unseen(RULES, others, [RULES.count(others)]))
    assert RULES.text(found & RULES.full) == play


@examples(80)
@given(st.sampled_from(QUICK), st.integers(0, 1 << 30))
def test_quick_playout_when_rules_allow_it_then_it_ends_as_the_careful_one(name: str, seed: int) -> None:
    rules, random = rules_named(name), Random(seed)
    deal = Deal(rules, seed.to_bytes(32, "big"), 1, 0, 1)
    for _ in range(random.randrange(1, 30)):
        if not deal.over:
            deal.act(deal.turn, random.choice(deal.choices(deal.turn)) & rules.full)
    if deal.over:
        return
    code = random.choice(deal.choices(deal.turn))
    start, after = Start.after(deal, code), deal.copy()
    after.act(deal.turn, code & rules.full)
    planner, numbers = planner_of(rules), [random.random() for _ in range(50)]
    units = [list(planner.plan[hand]) for hand in after.hands]
    again = [list(some) for some in units]
    quick = Quick(planner).points(start, list(after.hands), units, cycle(numbers).__next__)
    careful = Careful(planner).points(after, again, cycle(numbers).__next__)
    assert quick == careful


def best_of_all(deal: Deal) -> tuple[int, ...]:
    """Return the points if every seat does what is best for itself, computed without a cache."""
    if deal.over:
        return deal.points
    seat = deal.turn
    best: tuple[int, ...] = ()
    for code in sorted(deal.choices(seat), key=lambda code: -(code & deal.rules.full).bit_count()):
        other = deal.copy()
        other.act(seat, code & deal.rules.full)
        found = best_of_all(other)
        if not best or found[seat] > best[seat]:
            best = found
    return best


def near_its_end(name: str, seed: int) -> Deal:
    """Return a deal that is over, or that has at most two cards left per seat, on average."""
    rules = rules_named(name)
    deal = Deal(rules, seed.to_bytes(32, "big"), 1, 0, 1)
    while not deal.over and sum(map(rules.count, deal.hands)) > 2 * rules.ruleset.players:
        deal.act(deal.turn, deal.choices(deal.turn)[0] & rules.full)
    return deal


@examples(60)
@given(st.sampled_from(QUICK), st.integers(0, 1 << 30))
def test_ending_when_played_out_then_every_seat_does_what_is_best_for_it(name: str, seed: int) -> None:
    deal = near_its_end(name, seed)
    rules = deal.rules
    if deal.over:
        return
    code, seat = deal.choices(deal.turn)[-1], deal.turn
    after, hands = deal.copy(), list(deal.hands)
    after.act(seat, code & rules.full)
    hands[seat] = rules.remove(hands[seat], code & rules.full)
    assert Endings(rules).points(Start.after(deal, code), hands, 1 << 20) == best_of_all(after)


@examples(60)
@given(st.sampled_from(QUICK), st.integers(0, 1 << 30))
def test_sage_when_it_knows_what_all_hold_at_the_end_then_nothing_is_better(name: str, seed: int) -> None:
    deal = near_its_end(name, seed)
    rules = deal.rules
    if deal.over or len(deal.choices(deal.turn)) > USUAL.candidates:
        return
    seat, worth = deal.turn, {}
    for code in deal.choices(seat):
        other = deal.copy()
        other.act(seat, code & rules.full)
        worth[code] = best_of_all(other)[seat]
    player = Sage(rules, Random(1), count().__next__, Style(proves=False))
    codes = [code for code in worth if code]
    chosen = player.choose(Position(deal), seat, codes, 0 in worth, 100)
    assert worth[chosen] == max(worth.values())


def sampler(position: Position) -> Callable[[], World]:
    return partial(position.worlds.sample, Random(1))


def test_search_when_little_time_is_left_then_endings_get_no_more_than_that() -> None:
    asked: list[int] = []

    class Watched(Endings):
        def points(self, start: Start, hands: Sequence[int], nodes: int) -> tuple[int, ...]:
            asked.append(nodes)
            return super().points(start, hands, nodes)

    mine = RULES.parse("3D 3C 8H 9S JD")
    hands = [(mine, 0), *[(0, (FEW_CARDS - 5) // 3)] * 3]
    position = Position.seen(RULES, step=1, dealer=0, leader=0, hands=hands, actions=())
    plan = planner_of(RULES).plan
    units = {code: plan[RULES.remove(mine, code & RULES.full)] for code in RULES.list_plays(mine)[:2]}
    search = Search(position, 0, units, sampler(position), Random(1), Watched(RULES))
    search.best(partial(next, count(0, 0.001)), 0.01)  # a millisecond passes between looks
    assert asked
    assert max(asked) <= NODES_A_SECOND * 0.01
    assert asked[-1] < asked[0]
    assert search.playouts >= len(asked)


def test_search_when_it_is_relative_then_the_points_of_the_others_count() -> None:
    # whoever goes out first has 0 points; the other seat loses some
    seen = Position.parse(
        "chinese-2@1; clockwise; dealer 0; leader 1; hands ?5 / 3D 4H 9S 9H KD; actions 1:3D, 0:-"
    )
    rules, hand = seen.rules, seen.hands[1]
    units = {code: planner_of(rules).plan[rules.remove(hand, code & rules.full)] for code in seen.legal}

    def values(relative: bool) -> dict[int, list[int]]:
        search = Search(seen, 1, units, sampler(seen), Random(1), relative=relative)
        return search.prices(count().__next__, 40)

    own, ahead = values(False), values(True)
    pairs = [pair for code in units for pair in zip(own[code], ahead[code], strict=True)]
    assert all(other == mine if mine else other > 0 for mine, other in pairs)
    assert {bool(mine) for mine, _ in pairs} == {False, True}


@pytest.mark.parametrize(
    ("hidden", "known"), [((10, 0, 0, 10, 10), False), ((0, 0, 0, 10, 0), True), ((0, 0, 0, 0, 0), True)]
)
def test_hands_when_at_most_one_is_hidden_and_has_all_that_is_unseen_then_they_are_known(
    hidden: tuple[int, ...], known: bool
) -> None:
    deal = Deal(compile_ruleset(load_ruleset("choi-dai-di-5")), bytes(32), 1, 0, 1)
    hands = [(0 if count else hand, count) for hand, count in zip(deal.hands, hidden, strict=True)]
    seen = Position.seen(deal.rules, step=1, dealer=0, leader=0, hands=hands, actions=())
    assert is_known(seen) is known


@given(st.sampled_from(NAMES), st.integers(0, 1 << 30))
def test_plan_when_made_then_every_card_is_in_one_play(name: str, seed: int) -> None:
    rules = rules_named(name)
    hand = left = rules.mask(Random(seed).sample(rules.pack, 13))
    for unit in planner_of(rules).plan[hand]:
        assert rules.code(unit & rules.full) == unit
        left = rules.remove(left, unit & rules.full)
    assert left == 0


def test_policy_when_a_bomb_beats_only_twos_then_it_is_played_on_one() -> None:
    rules = compile_ruleset(load_ruleset("tien-len-frame"))
    policy = Policy(planner_of(rules))
    run = rules.code(rules.parse("3S 3C 4S 4C 5S 5C"))
    ace, two = (rules.code(rules.parse(card)) for card in ("AS", "2S"))
    hands = [
        rules.parse(cards) for cards in ("3S 3C 4S 4C 5S 5C 9H", "6S 6C 7S 8S", "6D 6H 7D 8D", "9S TS JS QS")
    ]
    units = sorted([run, rules.code(rules.parse("9H"))])
    assert policy.follow(units[:], hands, 0, ace, lambda: 1.0) == 0
    assert policy.follow(units, hands, 0, two, lambda: 1.0) == run
    assert run not in units


def test_search_when_one_play_wins_at_once_then_it_is_taken() -> None:
    seen = Position.parse(
        "chinese@1; clockwise; dealer 0; leader 1; hands ?2 / 3D 9S 9H / ?2 / ?2; actions 1:3D, 2:-, 3:-, 0:-"
    )
    player = sage(RULES)
    chosen = player.choose(seen, 1, list(seen.legal), False, 1)
    assert RULES.text(chosen & RULES.full) == "9H 9S"


@pytest.mark.parametrize("seconds", [0, 1])
def test_sage_when_its_hand_holds_a_dragon_then_it_is_played(seconds: float) -> None:
    rules = rules_with(extends="chinese-2", plays=["single", "pair", "dragon"], five_card_order=[])
    low = "3D 4C 5C 6C 7C 8C 9C TC JC QC KC AC"
    deal = deal_of(rules, [f"{low} 2C 4D", "3H 3S 9D 9H TD TH JD JH QD QH KD KH AD AH"])
    chosen = sage(rules).choose(Position(deal), 0, deal.legal(0), False, seconds)
    assert rules.kind(chosen) == "dragon"


def test_search_when_it_ends_then_it_tells_what_each_candidate_was_worth() -> None:
    seen = Position.parse(
        "chinese@1; clockwise; dealer 0; leader 1; hands ?5 / 3D 4H 9S 9H KD / 5D ?4 / ?5; "
        "actions 1:3D, 2:5D, 3:-, 0:-"
    )
    player = sage(RULES)
    chosen = player.choose(seen, 1, [code for code in seen.legal if code], True, 1)
    assert player.search is not None
    assert 0 in player.search.values
    assert player.search.mean(chosen) == max(
        player.search.mean(code)
        for code, values in player.search.values.items()
        if len(values) == len(player.search.values[chosen])
    )


def test_prices_when_one_action_goes_out_then_it_is_worth_most() -> None:
    seen = Position.parse(
        "chinese@1; clockwise; dealer 0; leader 1; hands ?5 / 3D 9S 9H / ?5 / ?5; actions 1:3D, 2:-, 3:-, 0:-"
    )
    prices = sage(RULES).prices(seen, 1, list(seen.legal), 1)
    assert prices.keys() == set(seen.legal)
    assert len({*map(len, prices.values())}) == 1
    best = max(prices, key=lambda code: sum(prices[code]))
    assert (RULES.text(best & RULES.full), {*prices[best]}) == ("9H 9S", {0})


@pytest.mark.parametrize(
    ("level", "decision", "bank", "cards", "sessions", "seconds"),
    [
        (100, 1_000, None, 13, 1, 0.1),
        (1_000, 1_000, None, 13, 1, 0.75),
        (100, 1_000, None, 13, 10, 0.075),
        (100, 60_000, 530, 13, 1, 0.01),
        (100, 60_000, 53, 13, 1, 0),
        (100, 4, None, 13, 1, 0),
        (0, 1_000, None, 13, 1, 0),
    ],
)
def test_thinking_time_is_the_least_of_level_limit_and_bank(
    level: float, decision: int, bank: int | None, cards: int, sessions: int, seconds: float
) -> None:
    assert bot.thinking_time(level, decision, bank, cards, sessions) == pytest.approx(seconds)


def test_milliseconds_when_the_environment_says_no_number_then_the_program_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert bot.milliseconds(20) == 20
    monkeypatch.setenv("ARENA_SAGE_MS", "5")
    assert bot.milliseconds(20) == 5
    for wrong in ("fast", "-1", "inf", "nan", "٣"):
        monkeypatch.setenv("ARENA_SAGE_MS", wrong)
        with pytest.raises(SystemExit, match=f"must be a number of milliseconds, not '{wrong}'"):
            bot.milliseconds(20)


def test_bot_when_a_session_is_lost_then_its_object_counts_no_more() -> None:
    before = len(bot.PLAYING)
    one = bot.SageBot()
    assert len(bot.PLAYING) == before + 1
    del one
    assert len(bot.PLAYING) == before


def test_card_to_return_is_one_that_the_hand_is_best_without() -> None:
    hand = RULES.parse("3D 4C 5H 6S 7D 9S")
    singles = [RULES.code(RULES.parse(card)) for card in RULES.text(hand).split()]
    assert RULES.text(sage(RULES).card_to_return(hand, singles) & RULES.full) == "9S"


def test_bot_when_there_is_no_position_then_it_plays_from_its_hand() -> None:
    hand, codes = hand_and_codes("3D 3C 4H KS 2S", "3H")
    assert sage(RULES).choose_unseen(hand, codes, True) in [*codes, 0]
