"""Tests for seeing recorded deals again, from one seat, decision by decision, and for asking a bot again."""

import json
from pathlib import Path
from typing import Any

import pytest

from referee.bot import Play, Turn
from referee.errors import RecordError
from referee.local.field import Block
from referee.local.rewind import Replayed, chosen, here, own_seat, rewound
from referee.local.saving import Which, kept_records
from referee.local.session import Seated
from referee.local.table import LocalTable
from referee.matches.match import SessionSpec
from referee.records.reading import LONGEST_LINE, DealLine, deal_records, text_lines
from tests.referee.deals import TELLING
from tests.referee.local.bots import HIGHEST, LOWEST, bot_file, setting_of
from tests.referee.local.test_session import play, records_of


def lowest(turn: Turn) -> Play | None:
    return turn.legal[0] if turn.legal else None


class Spread:
    """Answers in ways that depend only on what it sees."""

    def choose(self, turn: Turn) -> Play | None:
        answers: list[Play | None] = [*turn.legal, *([None] if turn.can_pass else [])]
        return answers[(len(turn.actions) + turn.hand_mask) % len(answers)]

    beat_own = bomb = choose


@pytest.mark.parametrize("ruleset", TELLING)
def test_deal_when_it_is_seen_again_then_every_decision_is_asked_as_it_was_and_answered_alike(
    ruleset: str,
) -> None:
    played = play(ruleset, Spread)
    [record] = records_of(ruleset, played)
    for seat, spent in enumerate(played.spent):
        replayed = Replayed(record, seat)
        answers = [*rewound(replayed, here(Spread, replayed, Seated(Spread).at_home), None, remembers=True)]
        assert [one.turn for one in answers if one.differs] == []
        declined = len(spent) - len(answers)  # bombs that were not played are not actions
        answered: Any = record.get("answers", [])
        assert declined == sum(one["seat"] == seat and one["turn"] == "bomb" for one in answered)


def test_deal_when_its_record_has_no_times_then_who_had_a_choice_was_asked() -> None:
    [record] = records_of("chinese", play("chinese", lowest))
    timed = [[one.number for one in Replayed(record, seat).decisions()] for seat in range(4)]
    del record["ms"]
    assert [[one.number for one in Replayed(record, seat).decisions()] for seat in range(4)] == timed


def test_rewind_when_the_bot_answers_otherwise_or_fails_then_that_is_told() -> None:
    [record] = records_of("chinese-2", play("chinese-2", lowest))
    replayed = Replayed(record, 0)
    first = next(replayed.decisions()).number

    def highest(turn: Turn) -> Play | None:
        return turn.legal[-1]

    [answer] = rewound(replayed, here(highest, replayed, Seated(highest).at_home), first, remembers=False)
    assert answer.differs
    assert (answer.then, answer.now) == (answer.legal[0], [one for one in answer.legal if one != "-"][-1])

    def failing(turn: Turn) -> Play | None:
        raise ValueError(f"deal {turn.deal}")

    [answer] = rewound(replayed, here(failing, replayed, Seated(failing).at_home), first, remembers=False)
    assert (answer.now, answer.failed[-1]) == ("", "ValueError: deal 1")


def test_rewind_when_the_bot_remembers_then_it_is_asked_what_came_before() -> None:
    [record] = records_of("chinese-2", play("chinese-2", lowest))
    replayed = Replayed(record, 0)
    third = [one.number for one in replayed.decisions()][2]
    asked: list[int] = []

    class Counting:
        def choose(self, turn: Turn) -> Play | None:
            asked.append(len(turn.actions) + 1)
            return None

    for remembers, times in ((True, 3), (False, 1)):
        asked.clear()
        again = Replayed(record, 0)
        [answer] = rewound(again, here(Counting, again, Seated(Counting).at_home), third, remembers)
        assert answer.turn == third
        assert (len(asked), asked[-1]) == (times, third)
    with pytest.raises(RecordError, match=r"seat 0 was not asked at turn 99; it was asked at "):
        [*rewound(replayed, here(lowest, replayed, Seated(lowest).at_home), 99, remembers=False)]


def test_own_seat_is_the_given_one_or_that_of_the_line_or_where_the_bots_name_is() -> None:
    record = {"seats": ["local/greedy@1", "local/my-bot@1", "local/my-bot-2@1"]}
    assert own_seat(DealLine(1, record, None), None, "my_bot") == 1
    assert own_seat(DealLine(1, record, 2), None, "my_bot") == 2
    assert own_seat(DealLine(1, record, 2), 0, "my_bot") == 0
    with pytest.raises(
        RecordError, match="no other sits there; specify a seat with --seat: 0 local/greedy@1, 1"
    ):
        own_seat(DealLine(1, record, None), None, "other")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "No such file or directory"),
        ("", "holds no deal record"),
        ('{"a": 1}\n', "holds no deal record"),
        ('{"actions": []}\n{"actions"', "line 2: Expecting"),
        ("1" * 5000, "line 1: Exceeds the limit"),
        ("[" * 100_000, "line 1: maximum recursion depth exceeded"),
    ],
)
def test_file_when_it_holds_no_records_then_one_line_says_why(
    tmp_path: Path, text: str | None, why: str
) -> None:
    file = tmp_path / "deals.jsonl"
    if text is not None:
        file.write_text(text)
    with pytest.raises(RecordError, match=why) as caught:
        deal_records(file)
    assert str(file) in str(caught.value)


def test_line_when_it_is_too_long_then_no_more_of_it_is_read_and_the_next_is(tmp_path: Path) -> None:
    texts = [b"{}\n", b"x" * (3 * LONGEST_LINE) + b"\n", b" " * (LONGEST_LINE - 1) + b"\n", b"[]"]
    path = tmp_path / "lines"
    path.write_bytes(b"".join(texts))
    with path.open("rb") as file:
        assert [len(text) for text in text_lines(file)] == [3, LONGEST_LINE + 1, LONGEST_LINE, 2]


def test_file_when_its_lines_are_those_of_a_bot_or_an_export_then_deals_are_found(tmp_path: Path) -> None:
    deal: dict[str, Any] = {"actions": [], "points": [1]}
    lines: list[dict[str, Any]] = [{"part": "head"}, deal, {"bot": "a/b@1", "seat": 2, "record": deal}]
    file = tmp_path / "deals.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    found = deal_records(file)
    assert found == [DealLine(2, deal, None), DealLine(3, deal, 2)]
    assert chosen(found, 2, "it").seat == 2
    for number, why in (
        (None, "it: has 2 deals; specify one with --deal"),
        (3, "it: has 2 deals; deal 3 not found"),
    ):
        with pytest.raises(RecordError, match=why):
            chosen(found, number, "it")


def test_kept_deals_are_those_that_are_wanted(tmp_path: Path) -> None:
    wrong = (
        "def choose(turn):\n    return 1 / (turn.deal - 2) and not turn.can_pass and turn.legal[0] or None\n"
    )
    files = [bot_file(tmp_path, "wrong", wrong), bot_file(tmp_path, "lowest", LOWEST)]
    files.append(bot_file(tmp_path, "highest", HIGHEST))
    setting = setting_of(files, "chinese-3", deals=4)
    session = SessionSpec(1, (1, 0, 2), bytes(32))
    played = LocalTable(setting).play(session)

    def saved(which: Which) -> list[dict[str, Any]]:
        ruleset = json.loads(setting.ruleset)
        return [*map(json.loads, kept_records(which, setting.names, ruleset, Block(0, (session,)), [played]))]

    every = saved(Which.ALL)
    assert [one["deal"] for one in every] == [1, 2, 3, 4]
    assert every[0]["seats"] == ["local/lowest@1", "local/wrong@1", "local/highest@1"]
    assert [one["deal"] for one in saved(Which.FAULTS)] == [2]
    lost = [one for one in every if 3 * one["points"][1] < sum(one["points"])]
    assert saved(Which.LOSSES) == lost
    assert len(lost) > 0
