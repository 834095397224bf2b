"""Tests for docs/authors/learning.md: its sizes are those of the code, and its examples run."""

import re
from pathlib import Path

import numpy as np
import pytest

from referee import learning
from referee.learning.features import FIXED, PLAY_FIELDS, PLAY_KINDS
from referee.ruleset import preset_names

PAGE = (Path(__file__).parents[3] / "docs" / "authors" / "learning.md").read_text(encoding="utf-8")


def table(title: str) -> list[list[str]]:
    """Return the rows of the first table below a heading, cell by cell."""
    section = PAGE.split(f"# {title}\n")[1].split("\n#")[0]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_sizes_when_they_are_documented_then_they_are_those_of_the_spaces() -> None:
    documented = {row[0].strip("`"): [int(cell) for cell in row[1:]] for row in table("Sizes by ruleset")}
    assert list(documented) == preset_names()
    for name, sizes in documented.items():
        environment = learning.raw_env(name)
        spaces = environment.observation_space("player_0")
        observation, plays = spaces["observation"].shape, spaces["plays"].shape
        assert observation is not None
        assert plays == (sizes[3], len(PLAY_FIELDS))
        cards = environment.encoder.fields["hand"]
        assert [len(environment.possible_agents), cards, *observation, plays[0]] == sizes
        assert spaces["action_mask"].shape == (sizes[3],)
        assert int(environment.action_space("player_0").n) == sizes[3]


@pytest.mark.parametrize("ruleset", ["chinese", "lectio", "only-a-game-8"])
def test_fields_when_they_are_documented_then_they_are_those_of_the_encoder(ruleset: str) -> None:
    encoder = learning.Encoder(ruleset)
    players, cards = encoder.ruleset.players, encoder.fields["hand"]
    terms = {"players": players, "cards": cards, "players × cards": players * cards}
    documented = {row[0].strip("`"): terms.get(row[1]) or int(row[1]) for row in table("What is observed")}
    assert documented == encoder.fields
    assert list(documented) == list(encoder.fields)


def test_features_when_they_are_documented_then_they_are_those_of_plays() -> None:
    rows = table("Features of a play")
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row[2] if row[0] == "kinds" else row[0])]
    assert tuple(names) == PLAY_FIELDS
    assert sum(int(row[1]) for row in rows) == len(PLAY_FIELDS)
    assert (len(PLAY_KINDS), len(FIXED)) == (20, 26)
    for size in re.findall(r"all slots × (\d+)|row of (\d+) features", PAGE):
        assert int("".join(size)) == len(PLAY_FIELDS)


@pytest.mark.parametrize("snippet", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_examples_when_they_are_run_then_they_work(snippet: str) -> None:
    exec(compile(snippet, "learning.md", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("slots", [None, 200])
def test_padded_when_seats_have_different_plays_then_each_has_its_own(slots: int | None) -> None:
    seen = learning.Tables(8, "chinese", seed=4).observe()
    features, mask = seen.padded(slots)
    assert features.shape[1] == (slots or np.diff(seen.starts).max())
    assert mask.sum() == seen.legal.sum()
    for place, (start, end) in enumerate(zip(seen.starts, seen.starts[1:], strict=False)):
        assert np.array_equal(features[place, : end - start], seen.plays[start:end])
        assert np.array_equal(mask[place, : end - start], seen.legal[start:end])
