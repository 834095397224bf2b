"""Tests for the PettingZoo environment: PettingZoo's own conformance tests, and what they do not cover."""

import subprocess
import sys
from itertools import islice, pairwise
from random import Random

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from referee import learning
from referee.errors import LearningError, RulesetError
from referee.learning.environment import BigTwo
from referee.ruleset import preset_names

# PettingZoo's tests warn of observations that are not a single array, except in its own environments.
dictionary = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array", "ignore:Observation space for each agent probably should be"
)
DIFFERENT = ("chinese", "gamesky", "hong-kong-relatives-3", "indonesia", "only-a-game-8", "chinese-2")
"""No rare rules; bombs out of turn; draws; passes that lock, beating one's own play; two packs; two seats."""
WITH_EXCHANGE = {"extends": "chinese-3", "name": "exchanging", "version": 1, "exchange": "loser_to_winner"}


@dictionary
@pytest.mark.parametrize("ruleset", preset_names())
def test_environment_when_it_is_a_preset_then_it_passes_the_test_of_the_interface(ruleset: str) -> None:
    api_test(learning.env(ruleset), num_cycles=10)


@dictionary
def test_environment_when_a_session_has_deals_and_an_exchange_then_it_passes_the_test_of_the_interface() -> (
    None
):
    api_test(learning.env(WITH_EXCHANGE, deals=3), num_cycles=100)


@pytest.mark.parametrize("ruleset", DIFFERENT)
def test_environment_when_it_is_seeded_then_it_passes_the_test_of_seeds(ruleset: str) -> None:
    seed_test(lambda: learning.env(ruleset), num_cycles=20)


def test_environment_when_it_is_shown_then_it_passes_the_test_of_rendering() -> None:
    render_test(lambda render_mode: learning.env("chinese", render_mode=render_mode))


def test_render_when_a_deal_begins_then_it_shows_hands_and_who_acts() -> None:
    environment = begun("chinese", seed=1, render_mode="ansi")
    text = environment.render()
    assert text is not None
    lines = text.splitlines()
    assert lines[0] == "chinese@1 deal 1, to beat: 3D"
    assert lines[2] == "> player_1      0  3S 4C 5D 5C 6H 9C 9S TS JD JS AD AC 2H"
    assert [line[:10] for line in lines[1:]] == ["  player_0", "> player_1", "  player_2", "  player_3"]


def begun(ruleset: learning.Source, seed: int = 0, **options: object) -> BigTwo:
    environment = learning.raw_env(ruleset, **options)
    environment.reset(seed=seed)
    return environment


def play(environment: BigTwo, rng: Random) -> list[tuple[str, float]]:
    """Play an episode at random; return who acted, each time with the reward since its last action."""
    acted = []
    for agent in environment.agent_iter():
        seen, reward, over, _, _ = environment.last()
        acted.append((agent, reward))
        environment.step(None if over else rng.choice(np.flatnonzero(seen["action_mask"]).tolist()))
    return acted


@pytest.mark.parametrize("ruleset", DIFFERENT)
def test_rewards_when_an_episode_ends_then_they_are_the_points_of_its_deals(ruleset: str) -> None:
    environment = begun(ruleset, deals=3)
    rewards = dict.fromkeys(environment.agents, 0.0)
    table = environment._table
    assert table is not None
    for agent, reward in play(environment, Random(1)):
        rewards[agent] += reward
    assert list(rewards.values()) == list(table.scores)
    assert any(rewards.values())


def test_agents_when_others_have_no_choice_then_one_acts_twice_running() -> None:
    acted = [agent for agent, _ in play(begun("chinese"), Random(2))]
    assert any(first == second for first, second in pairwise(acted))


def test_mask_when_a_seat_is_asked_then_it_has_two_actions_or_more_and_nobody_else_has() -> None:
    environment = begun("gamesky")
    for asked in islice(environment.agent_iter(), 40):
        if environment.terminations[asked]:
            break
        for agent in environment.agents:
            allowed = np.flatnonzero(environment.observe(agent)["action_mask"])
            assert len(allowed) > 1 if agent == asked else allowed.tolist() == [0]
        environment.step(int(np.flatnonzero(environment.observe(asked)["action_mask"])[-1]))


@pytest.mark.parametrize("action", [-1, 9999, 0])
def test_step_when_the_action_is_not_legal_then_it_raises_and_nothing_changes(action: int) -> None:
    environment = begun("chinese", slots=200)
    if action == 0:  # a lead: nobody may pass
        lead = next(number for number in range(99) if not _may_pass(environment, number))
        environment.reset(seed=lead)
    before = environment.observe(environment.agent_selection)
    with pytest.raises(LearningError, match=rf"action: {action} is not legal here"):
        environment.step(action)
    after = environment.observe(environment.agent_selection)
    assert all(np.array_equal(before[name], after[name]) for name in before)


def _may_pass(environment: BigTwo, seed: int) -> bool:
    environment.reset(seed=seed)
    return bool(environment.observe(environment.agent_selection)["action_mask"][0])


def test_slots_when_they_are_too_few_then_it_raises_and_does_not_truncate() -> None:
    environment = begun("chinese", slots=5)
    with pytest.raises(LearningError, match=r"slots: 5 are too few here, \d+ are needed"):
        play(environment, Random(3))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"players": 3}, "players: chinese@1 is for 4, not 3"),
        ({"deals": 0}, "deals: must be from 1 to 1000, not 0"),
        ({"slots": 1}, "slots: must be from 2 to 1311 under chinese@1, not 1"),
        ({"render_mode": "rgb"}, "render_mode: must be ansi or human, not 'rgb'"),
    ],
)
def test_environment_when_an_option_is_wrong_then_the_error_names_it(
    options: dict[str, object], told: str
) -> None:
    with pytest.raises(LearningError) as raised:
        learning.env("chinese", **options)
    assert str(raised.value) == told


def test_environment_when_no_ruleset_has_the_name_then_the_error_suggests_one() -> None:
    with pytest.raises(RulesetError, match="no preset is called 'chinesse'; did you mean 'chinese'"):
        learning.env("chinesse")


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("numpy", "referee.learning needs numpy: pip install 'bigtwo-bot[rl]'"),
        ("pettingzoo", "referee.learning.env needs pettingzoo: pip install 'bigtwo-bot[rl]'"),
    ],
)
def test_learning_when_a_package_is_missing_then_one_line_says_what_to_install(
    missing: str, told: str
) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None; from referee import learning; learning.env('chinese')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == f"ImportError: {told}"
    assert "During handling" not in done.stderr
