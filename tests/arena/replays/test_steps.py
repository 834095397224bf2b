"""A deal's steps agree with its record under every ruleset, and are described in words."""

from collections import Counter
from itertools import pairwise

import pytest

from arena.queries.replays.make import make_replay
from arena.queries.replays.moments import MomentKind, around, moments, stops
from arena.queries.replays.steps import Kind, Step
from arena.queries.replays.table import replay_data, table_at, words_for
from arena.queries.replays.words import short_names
from referee.errors import RecordError
from tests.arena.replays.records import NAMES, Record, plain, played, timed

ACTIONS = (Kind.PLAY, Kind.PASS, Kind.BOMB)


def sorted_words(cards: str) -> list[str]:
    return sorted(cards.split())


def told_action(step: Step) -> tuple[int | None, bool, list[str], int]:
    return step.seat, step.kind is Kind.BOMB, sorted(step.cards), len(step.drawn)


def read_action(text: str) -> tuple[int, bool, list[str], int]:
    cards, _, drawn = text[2:].partition(" +")
    return int(text[0]), text[1] == "!", sorted_words(cards.replace("-", "")), len(drawn.split())


@pytest.mark.parametrize("preset", NAMES)
def test_steps_of_a_deal_when_they_are_taken_then_they_go_from_its_hands_to_its_result(preset: str) -> None:
    for record in played(preset):
        replay = make_replay(record)
        first, last = replay.steps[0], replay.steps[-1]
        assert [sorted(hand) for hand in first.hands] == [sorted_words(hand) for hand in record["hands"]]
        assert [sorted(hand) for hand in last.hands] == [sorted_words(hand) for hand in record["left"]]
        assert (first.kind, last.kind) == (Kind.DEALT, Kind.END)
        assert list(last.points) == record["points"]
        assert list(last.out) == record["out"]
        actions = [told_action(step) for step in replay.steps if step.kind in ACTIONS]
        assert actions == [read_action(text) for text in record["actions"]]
        assert [step.number for step in replay.steps] == list(range(replay.last + 1))


@pytest.mark.parametrize("preset", NAMES)
def test_hands_of_a_step_when_somebody_acts_then_only_its_cards_leave_and_what_it_draws_comes(
    preset: str,
) -> None:
    for record in played(preset):
        for before, step in pairwise(make_replay(record).steps):
            if step.kind not in ACTIONS:
                continue
            assert step.seat is not None
            expected = [Counter(hand) for hand in before.hands]
            expected[step.seat] = expected[step.seat] - Counter(step.cards) + Counter(step.drawn)
            assert [Counter(hand) for hand in step.hands] == expected


@pytest.mark.parametrize("preset", NAMES)
def test_decisions_of_a_deal_when_they_are_made_then_they_are_among_what_was_legal(preset: str) -> None:
    for record in played(preset):
        steps = make_replay(record).steps
        for before, step in pairwise(steps):
            if step.options is None:
                continue
            if step.kind is Kind.PASS:
                assert step.options.may_pass
            elif step.options.count == len(step.options.listed):
                assert step.cards in step.options.listed
            else:
                assert step.options.count > len(step.options.listed)
            assert step.kind is Kind.RETURN or step.seat in before.asked or len(before.asked) > 1


@pytest.mark.parametrize("preset", NAMES)
def test_steps_of_a_deal_when_they_are_told_then_each_has_a_sentence_for_everybody(preset: str) -> None:
    for record in played(preset):
        replay = make_replay(record)
        for step in replay.steps:
            for viewer in (None, *range(len(replay.seats))):
                sentence = plain(words_for(step, viewer))
                assert sentence == sentence.strip()
                assert sentence.endswith(".")
                assert "  " not in sentence
                assert step.seat is None or replay.short[step.seat] in sentence


@pytest.mark.parametrize("preset", NAMES)
def test_table_when_it_is_seen_from_a_seat_then_no_other_hand_is_open_until_the_deal_is_over(
    preset: str,
) -> None:
    replay = make_replay(played(preset)[0])
    size = len(replay.seats)
    for number in range(replay.last + 1):
        for viewer in range(size):
            table = table_at(replay, number, viewer)
            opened = {place.seat for place in table.places if place.hand is not None}
            assert opened == (set(range(size)) if number == replay.last else {viewer})
            assert [place.at for place in table.places] == [*range(1, size), 0]
            assert table.places[-1].seat == viewer
    assert all(place.hand is not None for place in table_at(replay, 0).places)


def find(preset: str, kind: Kind, deals: int = 60) -> tuple[Record, Step]:
    """Return the first deal of random play that has a step of this kind, and the step."""
    for record in played(preset, deals):
        for step in make_replay(record).steps:
            if step.kind is kind:
                return record, step
    raise AssertionError(f"no {kind} in {deals} deals of {preset}")


def test_exchange_when_it_is_told_then_only_its_two_seats_learn_the_cards() -> None:
    record, given = find("exchange", Kind.GIVE)
    returned = make_replay(record).steps[given.number + 1]
    exchange = record["exchange"]
    assert (given.cards, returned.cards) == ((exchange["given"],), (exchange["returned"],))
    assert (given.seat, returned.seat) == (exchange["loser"], exchange["winner"])
    others = set(range(len(record["seats"]))) - {given.seat, returned.seat}
    for step in (given, returned):
        assert any(not isinstance(part, str) for part in words_for(step, given.seat))
        for other in others:
            assert all(isinstance(part, str) for part in words_for(step, other))
    assert returned.options is not None


def test_card_drawn_when_a_pass_is_told_then_only_its_seat_learns_it() -> None:
    steps = make_replay(played("hong-kong-relatives-3")[0]).steps
    step = next(step for step in steps if step.drawn)
    assert step.seat is not None
    assert step.drawn in words_for(step, step.seat)
    assert step.drawn not in words_for(step, (step.seat + 1) % len(step.hands))


def test_bomb_out_of_turn_when_it_is_played_then_the_step_says_so() -> None:
    record, step = find("bombs out of turn", Kind.BOMB)
    assert "bombs out of turn with" in plain(step.words)
    assert f"{step.seat}!" in "".join(record["actions"])


def test_times_of_decisions_when_a_record_has_them_then_the_steps_have_them() -> None:
    record = timed(played("hong-kong")[0])
    steps = [step for step in make_replay(record).steps if step.kind in ACTIONS]
    assert [step.ms for step in steps] == [1000 + 10 * index for index in range(len(steps))]
    assert {step.credit_ms for step in steps} == {7}
    assert not any(step.forced for step in steps)


def test_fault_when_the_referee_acted_then_the_step_tells_whose_it_was_and_why() -> None:
    record = played("hong-kong")[0]
    index = next(at for at, text in enumerate(record["actions"]) if text.endswith(":-"))
    seat = int(record["actions"][index][0])
    fault = {"action": index, "seat": seat, "kind": "timeout", "ms": 1040, "credit_ms": 40}
    steps = [step for step in make_replay({**record, "faults": [fault]}).steps if step.kind in ACTIONS]
    assert [(one.seat, one.kind, one.ms) for one in steps[index].faults] == [(seat, "timeout", 1040)]
    assert "ran out of time, so the referee decided." in plain(steps[index].words)
    assert not any(step.faults for step in steps if step is not steps[index])


@pytest.mark.parametrize("preset", NAMES)
def test_stops_when_tricks_are_jumped_to_then_each_begins_one(preset: str) -> None:
    for record in played(preset):
        replay = make_replay(record)
        found = stops(replay)
        begin = [
            number for number in found[1:-1] if replay.steps[number - 1].trick != replay.steps[number].trick
        ]
        assert (found[0], [*found[1:-1]], found[-1]) == (0, begin, replay.last)
        assert {replay.steps[number].trick for number in begin} >= {*range(1, replay.steps[-1].trick)}
        for number in range(replay.last + 1):
            before, after = around(replay, number)
            assert [one for one in found if one < number][-1:] == ([] if before is None else [before])
            assert [one for one in found if one > number][:1] == ([] if after is None else [after])


@pytest.mark.parametrize("preset", NAMES)
def test_folded_steps_when_a_deal_is_listed_then_no_decision_and_no_lead_is_among_them(preset: str) -> None:
    steps = [step for record in played(preset) for step in make_replay(record).steps]
    for before, step in pairwise(steps):
        if step.folded:
            assert step.options is not None
            assert (step.kind, step.options.count, step.cards, step.drawn) == (Kind.PASS, 0, (), ())
            assert step.trick == before.trick
    assert not any(step.folded for step in make_replay(timed(played(preset)[0])).steps)


def test_moments_when_a_deal_is_looked_over_then_faults_bombs_and_long_thoughts_are_named() -> None:
    record, bomb = find("bombs out of turn", Kind.BOMB)
    count = len(record["actions"])
    index = next(at for at, text in enumerate(record["actions"]) if text.endswith(":-"))
    seat = int(record["actions"][index][0])
    ms = ["20"] * count
    ms[0], ms[1], ms[index] = "1300", "79", "1000"
    credit = " ".join("0" * count)
    fault = {"action": index, "seat": seat, "kind": "timeout", "ms": 1000, "credit_ms": 0}
    replay = make_replay({**record, "ms": " ".join(ms), "credit_ms": credit, "faults": [fault]})
    found = moments(replay)
    assert [one.step for one in found] == sorted(one.step for one in found)
    [thought] = [one for one in found if one.kind is MomentKind.THOUGHT]
    first = next(step for step in replay.steps if step.kind in ACTIONS)
    assert (thought.step, thought.told) == (first.number, f"1.3 s: {replay.short[first.seat or 0]}")
    [wrong] = [one for one in found if one.kind is MomentKind.FAULT]
    assert wrong.told == f"timeout: {replay.short[seat]}"
    assert replay.steps[wrong.step].faults
    bombs = {one.step for one in found if one.kind is MomentKind.BOMB}
    assert bomb.number in bombs
    combinations = {replay.steps[number].combination.split()[0] for number in bombs}
    assert combinations <= {"full", "four", "run"}
    assert not moments(make_replay(played("hong-kong")[0]))


def test_forfeit_when_it_ends_a_deal_then_the_last_step_tells_of_it() -> None:
    record = played("hong-kong")[0]
    short = {
        **record,
        "actions": [],
        "left": record["hands"],
        "out": [],
        "points": [13, 13, 13, -39],
        "end": "forfeit",
        "forfeit": 3,
    }
    last = make_replay(short).steps[-1]
    assert f"{make_replay(short).short[3]} forfeits the session." in plain(last.words)


def test_record_when_an_action_is_not_legal_then_it_is_refused() -> None:
    record = played("hong-kong")[0]
    with pytest.raises(RecordError, match="action 0"):
        make_replay({**record, "actions": [f"{(record['leader'] + 1) % 4}:-", *record["actions"]]})


def test_data_for_the_script_when_hands_are_put_together_then_they_are_the_steps_hands() -> None:
    replay = make_replay(timed(played("choi-dai-di")[1]))
    hands = [""] * len(replay.seats)
    steps = replay_data(replay)["steps"]
    assert isinstance(steps, list)
    for step, data in zip(replay.steps, steps, strict=True):
        for seat, hand in data.get("hands", {}).items():
            hands[int(seat)] = hand
        assert hands == [" ".join(hand) for hand in step.hands]
        assert data.get("ms") == step.ms


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["ann/greedy@2", "bob/pass@1"], ("greedy", "pass")),
        (["ann/greedy@2", "bob/greedy@1"], ("ann/greedy", "bob/greedy")),
        (["ann/greedy@2", "ann/greedy@1"], ("ann/greedy@2", "ann/greedy@1")),
        (["random/0@1", "random/1@1"], ("random/0", "random/1")),
        (["", "x"], ("", "x")),
    ],
)
def test_names_when_they_are_shortened_then_they_can_still_be_told_apart(
    names: list[str], expected: tuple[str, ...]
) -> None:
    assert short_names(names) == expected
