"""Rulesets over the API: which ones there are, what they mean, and what is wrong with one."""

import json
from dataclasses import asdict

import pytest
from fastapi.testclient import TestClient

from arena.queries.replays.sandbox import try_cards
from referee.describe import describe
from referee.ruleset import load_ruleset, preset_names
from tests.arena.world import World

HOUSE = {"name": "house", "extends": "hong-kong", "version": 2}


def test_rulesets_when_they_are_listed_then_presets_and_played_ones_are_there_once(
    anybody: TestClient, world: World
) -> None:
    bots = world.register(8)
    world.tournament_of(bots)
    world.tournament_of(bots, name="other", ruleset=HOUSE)
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = anybody.get(f"/rulesets?limit=3{cursor and f'&cursor={cursor}'}").json()
        assert len(page["rulesets"]) <= 3
        found += [one["ruleset"] for one in page["rulesets"]]
        cursor = page["next"]
    assert found == [*(load_ruleset(name).label for name in preset_names()), "house@2"]


def test_ruleset_when_it_is_asked_for_then_all_its_fields_and_words_are_there(
    anybody: TestClient, world: World
) -> None:
    world.tournament_of(world.register(8), ruleset=HOUSE)
    house, hong_kong = load_ruleset(HOUSE), load_ruleset("hong-kong")
    for called, ruleset in [
        ("hong-kong", hong_kong),
        ("hong-kong@1", hong_kong),
        (hong_kong.hash[:12], hong_kong),
        ("house", house),
        (house.hash, house),
    ]:
        found = anybody.get(f"/rulesets/{called}").json()
        assert (found["ruleset"], found["hash"]) == (ruleset.to_object(), ruleset.hash)
        assert (found["label"], found["description"]) == (ruleset.label, describe(ruleset))
    assert anybody.get("/rulesets/nothing").status_code == 404


def test_ruleset_when_several_are_called_so_then_that_is_told(anybody: TestClient, world: World) -> None:
    bots = world.register(8)
    for version in (2, 3):
        world.tournament_of(bots, name=f"cup-{version}", ruleset={**HOUSE, "version": version})
    answer = anybody.get("/rulesets/house")
    assert (answer.status_code, "house@2" in answer.json()["detail"]) == (409, True)


def test_ruleset_when_it_is_checked_then_it_is_resolved_or_told_what_is_wrong(anybody: TestClient) -> None:
    found = anybody.post("/rulesets/check", json=HOUSE).json()
    assert found["hash"] == load_ruleset(HOUSE).hash
    assert found["ruleset"] == load_ruleset(HOUSE).to_object()


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({**HOUSE, "players": 99}, "players"),
        ({**HOUSE, "colour": "red"}, "colour"),
        ({"extends": "/etc/passwd"}, "extends"),
        ({"name": "none"}, "name"),
    ],
)
def test_ruleset_when_it_is_wrong_then_the_field_is_told(
    anybody: TestClient, sent: dict[str, object], field: str
) -> None:
    answer = anybody.post("/rulesets/check", json=sent)
    assert (answer.status_code, answer.json()["problems"][0]["field"]) == (422, field)


def test_cards_when_they_are_put_then_it_is_told_what_they_are_and_what_they_beat(
    anybody: TestClient,
) -> None:
    chinese = load_ruleset("chinese")
    answer = anybody.get("/rulesets/chinese/plays?cards=4D+4C&against=3d3s").json()
    found = try_cards(chinese, ("4D", "4C"), ("3D", "3S"))
    assert answer == json.loads(json.dumps(asdict(found)))
    assert (answer["beats"], answer["beaten"]) == (True, False)
    assert anybody.get("/rulesets/chinese/plays?cards=3D4C").json()["put"]["name"] == ""


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("chinese/plays?cards=XX", 422, "cards"),
        ("chinese/plays?cards=3D&against=3D3D", 422, "against"),
        ("chinese/plays", 422, "cards"),
        ("nothing/plays?cards=3D", 404, None),
    ],
)
def test_cards_when_they_are_wrong_then_the_field_is_told(
    anybody: TestClient, query: str, status: int, field: str | None
) -> None:
    answer = anybody.get(f"/rulesets/{query}")
    assert answer.status_code == status
    assert [one["field"] for one in answer.json()["problems"]] == ([] if field is None else [field])
