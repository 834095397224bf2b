"""How a session stands after the deals that earlier attempts at it finished."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from referee.deals.action import Forfeit
from referee.deals.succession import legacy
from referee.matches.match import Finished
from referee.records.reading import read_record
from referee.records.record import full_record
from referee.records.replay import replay
from referee.records.results import shown_digest


def finished_deals(
    records: Sequence[str], bank_ms: tuple[int, ...], ruleset: Mapping[str, object]
) -> Finished:
    """Return how a session stands after its first deals, of which ``records`` are the lean records.

    There must be at least one. ``ruleset`` is resolved; ``bank_ms`` is what is left in the seats' banks,
    empty without banks. Only the last deal is replayed, because the next one follows from it. Raise
    RecordError if its record is wrong.
    """
    deals = [json.loads(record) for record in records]
    seats = len(deals[-1]["points"])
    faults = [0] * seats
    for deal in deals:
        for fault in deal.get("faults", ()):
            faults[fault["seat"]] += 1
    whole = full_record(
        deals[-1],
        ruleset=ruleset,
        tournament="",
        round=1,
        table=1,
        session=1,
        seats=[str(seat) for seat in range(seats)],
    )
    scores = tuple(map(sum, zip(*(deal["points"] for deal in deals), strict=True)))
    last = legacy(replay(read_record(whole), None))
    forfeits = tuple([_forfeit(forfeit) for forfeit in deals[-1].get("played_for", ())])
    return Finished(last, scores, tuple(faults), bank_ms, shown_digest(deals), forfeits)


def _forfeit(played_for: Mapping[str, Any]) -> Forfeit:
    return Forfeit(*(played_for[name] for name in Forfeit._fields))
