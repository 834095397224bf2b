"""Deals that are saved: all, those that the first bot lost, or those in which it made a fault."""

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from referee.local.field import Block
from referee.local.table import TOURNAMENT, seat_names
from referee.local.tally import Played
from referee.matches.match import SessionSpec
from referee.records.record import full_record

OWN = 0
"""The bot whose losses and faults count."""


class Which(StrEnum):
    """Which deals are saved."""

    LOSSES = "losses"
    """Those in which a seat of the bot got fewer points than the mean of all seats."""
    FAULTS = "faults"
    """Those in which the bot made a fault; an exception is one."""
    ALL = "all"


def kept_records(
    which: Which,
    names: tuple[str, ...],
    ruleset: Mapping[str, object],
    block: Block,
    played: Sequence[Played],
) -> Iterator[str]:
    """Yield the complete records of a block's deals that are to be saved, each as a line."""
    for session, session_played in zip(block.sessions, played, strict=True):
        for text in session_played.result.records:
            lean = json.loads(text)
            if _is_kept(which, session, lean):
                record = full_record(
                    lean,
                    ruleset=ruleset,
                    tournament=TOURNAMENT,
                    round=1,
                    table=1,
                    session=session.number,
                    seats=seat_names(names, session.seating),
                )
                yield json.dumps(record, separators=(",", ":"))


def _is_kept(which: Which, session: SessionSpec, record: Mapping[str, object]) -> bool:
    if which is Which.ALL:
        return True
    own = [seat for seat, bot in enumerate(session.seating) if bot == OWN]
    if which is Which.LOSSES:
        points = record["points"]
        assert isinstance(points, list)
        return any(points[seat] * len(points) < sum(points) for seat in own)
    faults = record.get("faults", [])
    assert isinstance(faults, list)
    return any(fault["seat"] in own for fault in faults)
