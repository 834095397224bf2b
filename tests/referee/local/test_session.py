"""Tests for sessions in this process: every ruleset, what bots are told, and what their mistakes lead to."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from referee.bot import EndedDeal, EndedSession, Play, Turn
from referee.local.session import LocalSession, Seated
from referee.local.table import LocalTable
from referee.local.tally import Played
from referee.matches.events import SessionInfo
from referee.matches.match import Limits, SessionSpec
from referee.position import Position
from referee.records.record import full_record
from referee.records.replay import Replayer
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.referee.deals import TELLING
from tests.referee.local.bots import LOWEST, bot_file, setting_of

Named = str | dict[str, str]


def play(ruleset: Named, *bots: Any, deals: int = 1, number: int = 1) -> Played:
    """Play a session of these bots, which take the seats in turn."""
    rules = compile_ruleset(load_ruleset(ruleset))
    players = rules.ruleset.players
    names = tuple(f"local/bot-{seat}@1" for seat in range(players))
    info = SessionInfo(0, f"play/1/1/{number}", number, "play", "", rules, names, deals, "", Limits())
    seated = [Seated(bots[seat % len(bots)]) for seat in range(players)]
    return LocalSession(info, number.to_bytes(32, "big"), seated).play()


def records_of(ruleset: Named, played: Played) -> list[dict[str, object]]:
    """Return the complete records of a session."""
    resolved = load_ruleset(ruleset).to_object()
    seats = [f"local/bot-{seat}@1" for seat in range(len(played.result.points))]
    common: Any = {
        "ruleset": resolved,
        "tournament": "play",
        "round": 1,
        "table": 1,
        "session": played.result.number,
    }
    return [full_record(json.loads(record), seats=seats, **common) for record in played.result.records]


class Watchful:
    """Looks at everything that it may know, and checks it against its position."""

    def choose(self, turn: Turn) -> Play | None:
        position: Position = turn.position()
        assert [*position.legal] == sorted(turn.legal_codes) + [0] * turn.can_pass or set(position.legal) == {
            *turn.legal_codes,
            *([0] if turn.can_pass else []),
        }
        assert position.hands[turn.seat] == turn.hand_mask
        counts = [hand.bit_count() for hand in position.hands]
        assert tuple(map(sum, zip(counts, position.hidden, strict=True))) == turn.counts
        assert position.to_beat == (turn.to_beat.code if turn.to_beat else 0)
        legal = turn.legal
        return legal[(len(turn.actions) + turn.deal) % len(legal)] if legal else None


@pytest.mark.parametrize("ruleset", TELLING)
def test_session_when_it_is_played_here_then_its_records_are_right_and_bots_see_what_they_may(
    ruleset: str,
) -> None:
    played = play(ruleset, Watchful, deals=3)
    assert played.failures == []
    assert played.faults == []
    replayer = Replayer()
    for record in records_of(ruleset, played):
        replayer.check(record)
    asked = sum(map(len, played.spent))
    assert asked > 0


def test_session_when_a_bot_has_hooks_then_it_is_told_of_the_end() -> None:
    told: list[EndedDeal | EndedSession] = []

    class Learner:
        def choose(self, turn: Turn) -> Play | None:
            return turn.legal[0] if turn.legal else None

        def deal_ended(self, deal: EndedDeal) -> None:
            told.append(deal)

        def session_ended(self, session: EndedSession) -> None:
            told.append(session)

    played = play("chinese-2", Learner, Learner.__new__(Learner).choose, deals=2)
    first, second, end = told
    record = json.loads(played.result.records[0])
    assert isinstance(first, EndedDeal)
    assert isinstance(second, EndedDeal)
    assert isinstance(end, EndedSession)
    assert [" ".join(hand) for hand in first.hands] == record["hands"]
    assert list(first.points) == record["points"]
    assert [f"{action.seat}:{' '.join(action.cards) or '-'}" for action in first.actions] == record["actions"]
    assert (first.deal, second.deal, end.points) == (1, 2, played.result.points)
    assert second.scores == end.points


def test_session_when_a_bots_code_fails_then_it_is_a_fault_with_the_end_of_the_traceback() -> None:
    def choose(turn: Turn) -> Play | None:
        unknown: dict[object, Play] = {}
        return unknown[turn.hand]

    played = play("chinese-2", lambda turn: turn.legal[0] if turn.legal else None, choose)
    assert {fault.kind for fault in played.faults} == {"exception"}
    assert {failure.seat for failure in played.failures} == {1}
    first = played.failures[0]
    assert first.text.startswith("KeyError: ")
    assert "holding" in first.text
    assert any("return unknown[turn.hand]" in line for line in first.lines)
    assert first.lines[-1].startswith("KeyError: ")


def test_session_when_a_coroutine_fails_then_its_own_error_and_frames_are_told() -> None:
    async def look(turn: Turn) -> None:
        raise KeyError(turn.seat)

    async def choose(turn: Turn) -> Play | None:
        async with asyncio.TaskGroup() as group:
            group.create_task(look(turn))
        return None

    played = play("chinese-2", lambda turn: turn.legal[0] if turn.legal else None, choose)
    told = played.faults[0].text
    assert "KeyError: 1; test_session.py, line " in told
    assert "in look: raise KeyError(turn.seat)" in told
    for text in (told, *played.failures[0].lines):
        assert "TaskGroup" not in text
        assert "base_events.py" not in text
    assert played.failures[0].lines[-1] == "KeyError: 1"


def test_session_when_a_bot_exits_or_answers_nonsense_then_the_session_goes_on() -> None:
    def leave(turn: Turn) -> Play | None:
        raise SystemExit(3)

    left = play("chinese-2", leave, lambda turn: 7)
    assert {failure.lines[-1].partition(":")[0] for failure in left.failures} == {"SystemExit", "TypeError"}
    assert len(left.result.records) == 1


def test_session_when_a_bot_plays_what_is_illegal_then_it_is_a_fault_and_ten_forfeit_the_session() -> None:
    played = play(
        "chinese-2", lambda turn: "3D 4D", lambda turn: turn.legal[0] if turn.legal else None, deals=20
    )
    assert {(fault.seat, fault.kind) for fault in played.faults} == {(0, "illegal")}
    assert "answered 3D 4D, played " in played.faults[0].text
    assert (len(played.faults), played.result.forfeits) == (10, (0,))


def test_session_when_cards_are_exchanged_then_only_two_seats_see_them() -> None:
    seen: set[tuple[bool, int]] = set()

    class Nosy:
        def choose(self, turn: Turn) -> Play | None:
            gifts = [action for action in turn.actions if action.kind == "exchange"]
            if gifts:
                involved = turn.seat in [gift.seat for gift in gifts]
                seen.update((involved, len(gift.cards)) for gift in gifts)
            return turn.legal[0] if turn.legal else None

    ruleset = {"extends": "chinese-3", "exchange": "loser_to_winner"}
    played = play(ruleset, Nosy, deals=3)
    assert played.failures == []
    assert seen == {(True, 1), (False, 0)}
    replayer = Replayer()
    for record in records_of(ruleset, played):
        replayer.check(record)


def test_table_when_a_bot_draws_from_the_module_random_then_it_plays_the_same_again(tmp_path: Path) -> None:
    text = "import random\ndef choose(turn):\n    return random.choice([*turn.legal] or [None])\n"
    files = [bot_file(tmp_path, "dice", text), bot_file(tmp_path, "lowest", LOWEST)]
    session = SessionSpec(5, (0, 1), bytes(32))
    first, second = (LocalTable(setting_of(files)) for _ in range(2))
    second.play(SessionSpec(1, (1, 0), bytes(32)))
    once, again = first.play(session), second.play(session)
    actions = [json.loads(one.result.records[0])["actions"] for one in (once, again)]
    assert actions[0] == actions[1]
    assert once.result.points == again.result.points
