"""Tests for ``referee.testing``: turns from text and from records, and whole deals."""

import json
from pathlib import Path

import pytest

from referee.bot import Answer, Play, Turn
from referee.errors import BotFailed, PositionError, RecordError
from referee.ruleset import load_ruleset
from referee.testing import play_deal, turn_at, turn_from
from tests.referee.deals import TELLING
from tests.referee.support import lowest

GOLDEN = Path(__file__).parents[1] / "golden" / "records"
FOLLOWING = "chinese; hand 3D 4C 4D 9S 2S; to beat 3C 3H; counts 5 8 13 2"


def test_turn_from_text_when_something_is_to_be_beaten_then_it_has_what_the_text_says() -> None:
    turn = turn_from(f"{FOLLOWING}; ms 250")
    assert turn.hand == ("3D", "4D", "4C", "9S", "2S")
    assert str(turn.to_beat) == "3C 3H"
    assert [*map(str, turn.legal)] == ["4D 4C"]
    assert (turn.counts, turn.seat, turn.can_pass, turn.decision_ms) == ((5, 8, 13, 2), 0, True, 250)
    assert turn.position().counts == (5, 8, 13, 2)


def test_turn_from_text_when_it_leads_with_a_card_that_it_must_then_only_that_is_legal() -> None:
    turn = turn_from("chinese; hand 3D 3C 9S; must 3D; seat 2")
    assert [*map(str, turn.legal)] == ["3D", "3D 3C"]
    assert (turn.to_beat, turn.can_pass, turn.seat, turn.counts) == (None, False, 2, (13, 13, 3, 13))


def test_turn_from_the_text_of_its_position_is_the_same_turn() -> None:
    turn = turn_from(FOLLOWING)
    again = turn_from(str(turn.position()))
    assert (again.hand, again.counts, [*again.legal]) == (turn.hand, turn.counts, [*turn.legal])


@pytest.mark.parametrize("name", TELLING)
def test_turn_from_text_under_every_ruleset_has_a_legal_lead(name: str) -> None:
    ruleset = load_ruleset(name)
    turn = turn_from(
        f"{name}; hand {ruleset.ranks[0]}{ruleset.suits[0]} {ruleset.ranks[3]}{ruleset.suits[0]}"
    )
    assert len(turn.legal) >= 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "chinese; hand 3D; to bet 4D",
            "'to bet 4D': must begin with hand, to beat, counts, seat, must or ms",
        ),
        ("chinese", "hand: must have a card"),
        ("chinese; hand 3X", "3X"),
        ("chinese; hand 3D; to beat 4D 5D", "4D 5D"),
        ("chinese; hand 3D; seat 4", "seat 4: must be below 4"),
        ("chinese; hand 3D; counts 2 2 2 2", "counts: must be 4 numbers, with 1 for seat 0"),
        ("chinese; hand 3D; counts 1 x 2 2", "'x' is not a number"),
        ("chinese; hand 3D; counts 1 ٢ 2 2", "'٢' is not a number"),
        ("chinese; hand 3D; seat ٢", "'٢' is not a number"),
        ("chinese; hand 3D; ms ٢", "'٢' is not a number"),
    ],
)
def test_turn_from_text_that_cannot_be_says_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(PositionError, match=said):
        turn_from(text)


@pytest.mark.parametrize("name", ["chinese", "lectio", "only-a-game-bombs", "indonesia"])
def test_turn_at_each_action_of_a_record_when_the_bot_does_what_was_done_then_it_is_legal(name: str) -> None:
    record = json.loads((GOLDEN / f"{name}.jsonl").read_text().splitlines()[0])
    for index, text in enumerate(record["actions"]):
        turn = turn_at(record, action=index)
        played = text.partition("!" if "!" in text else ":")[2].partition(" +")[0]
        assert turn.seat == int(text[0])
        assert turn.can_pass if played == "-" else played in map(str, turn.legal)


def test_turn_at_when_a_file_has_several_deals_then_the_number_says_which(tmp_path: Path) -> None:
    records = [json.loads(line) for line in (GOLDEN / "chinese.jsonl").read_text().splitlines()[:3]]
    file = tmp_path / "lost.jsonl"
    file.write_text("".join(json.dumps({"output": "bigtwo-cli/1", "record": one}) + "\n" for one in records))
    turn = turn_at(file, deal=records[1]["deal"], action=0)
    assert turn.deal == records[1]["deal"]
    assert turn.hand == tuple(records[1]["hands"][turn.seat].split())
    with pytest.raises(RecordError, match="needs one of the records of deal 77, has 0"):
        turn_at(file, deal=77, action=0)
    with pytest.raises(RecordError, match="needs one of the deal records, has 3"):
        turn_at(records, action=0)
    with pytest.raises(RecordError, match="must be an action from 0 to"):
        turn_at(records[0], action=1000)
    with pytest.raises(RecordError, match=r"no\.jsonl: No such file"):
        turn_at("no.jsonl", action=0)


def test_play_deal_when_it_is_played_twice_then_all_is_the_same() -> None:
    played, again = (play_deal(lowest, "keeper", seed="7") for _ in range(2))
    assert played.record == again.record
    assert sum(len(times) for times in played.seconds) > 10
    assert turn_at(played.record, action=0).can_pass is False


async def waiting(turn: Turn) -> Answer:
    return lowest(turn)


class Many:
    def choose_many(self, turns: list[Turn]) -> list[Play | None]:
        return [*map(lowest, turns)]


@pytest.mark.parametrize("bot", [waiting, Many], ids=["async", "many"])
def test_play_deal_with_every_kind_of_bot_is_that_of_a_function(bot: object) -> None:
    assert play_deal(bot, seed="3").record == play_deal(lowest, seed="3").record  # type: ignore[arg-type]


def failing(turn: Turn) -> Answer:
    raise LookupError("lost the plan")


@pytest.mark.parametrize(
    ("bot", "said"),
    [(failing, "seat 0: LookupError: lost the plan"), (lambda turn: "3D 4D", "seat 0: illegal")],
    ids=["exception", "illegal"],
)
def test_play_deal_when_a_bot_fails_then_that_is_raised(bot: object, said: str) -> None:
    with pytest.raises(BotFailed, match=said):
        play_deal(bot)  # type: ignore[arg-type]


def test_play_deal_with_bots_that_are_none_says_so() -> None:
    with pytest.raises(PositionError, match="'gredy' is not a sample bot; did you mean 'greedy'"):
        play_deal("gredy")
    with pytest.raises(PositionError, match="5 bots for 4 seats"):
        play_deal(*["greedy"] * 5)
