"""Between values and the messages of workers: matches and their results."""

import json

from referee.errors import MatchRefused
from referee.matches.match import Limits, MatchBot, MatchSpec, Progress, SessionResult, SessionSpec
from referee.protocol.wire import write_limits
from referee.worker.v1alpha1 import worker_pb2


def read_match(request: worker_pb2.RunMatchRequest) -> MatchSpec:
    """Return the match that a request describes. Raise MatchRefused if its ruleset is no JSON object."""
    return MatchSpec(
        match_id=request.match_id,
        tournament=request.tournament,
        round=request.round,
        table=request.table,
        ruleset=read_ruleset(request.ruleset),
        bots=tuple(MatchBot(bot.version_id, bot.name) for bot in request.bots),
        sessions=tuple(SessionSpec(s.number, tuple(s.seating), s.seed) for s in request.sessions),
        deals=_read_deals(request),
        commitment=request.commitment,
        limits=_read_limits(request),
        shared_deals=request.shared_deals,
    )


def read_ruleset(text: str) -> dict[str, object]:
    """Return the ruleset of a request as an object. Raise MatchRefused if it is no JSON object."""
    try:
        ruleset = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MatchRefused(f"ruleset: not JSON: {error}") from None
    if not isinstance(ruleset, dict):
        raise MatchRefused("ruleset: not a JSON object")
    return ruleset


def _read_deals(request: worker_pb2.RunMatchRequest) -> int:
    """Return how many deals a session has at most; 0 where that is left to the ruleset."""
    if request.HasField("deals") and not request.deals:
        raise MatchRefused("deals: 0 is less than 1")
    return request.deals


def _read_limits(request: worker_pb2.RunMatchRequest) -> Limits:
    limits = request.limits
    return Limits(
        decision_ms=limits.decision.ToMilliseconds(),
        join_ms=request.join.ToMilliseconds(),
        faults=limits.faults,
        bank_ms=limits.bank.ToMilliseconds(),
        increment_ms=limits.increment.ToMilliseconds(),
        credit_ms=limits.credit.ToMilliseconds(),
        ask_forced=limits.ask_forced,
    )


def match_request(spec: MatchSpec) -> worker_pb2.RunMatchRequest:
    """Return the request that describes a match."""
    request = worker_pb2.RunMatchRequest(
        match_id=spec.match_id,
        tournament=spec.tournament,
        round=spec.round,
        table=spec.table,
        ruleset=json.dumps(dict(spec.ruleset), separators=(",", ":")),
        bots=[worker_pb2.MatchBot(version_id=bot.version_id, name=bot.name) for bot in spec.bots],
        sessions=[
            worker_pb2.MatchSession(number=s.number, seating=s.seating, seed=s.seed) for s in spec.sessions
        ],
        deals=spec.deals or None,
        commitment=spec.commitment,
        shared_deals=spec.shared_deals,
    )
    request.join.FromMilliseconds(spec.limits.join_ms)
    write_limits(request.limits, spec.limits)
    return request


def result_response(result: SessionResult) -> worker_pb2.RunMatchResponse:
    """Return the message that tells of a finished session."""
    return worker_pb2.RunMatchResponse(
        session_finished=worker_pb2.SessionFinished(
            number=result.number,
            points=result.points,
            forfeited_by=result.forfeit,
            faults=result.faults,
            records=result.records,
        )
    )


def progress_response(progress: Progress) -> worker_pb2.RunMatchResponse:
    """Return the message that shows how a match stands."""
    return worker_pb2.RunMatchResponse(
        progress=worker_pb2.MatchProgress(
            decisions=progress.decisions,
            sessions_open=progress.sessions_open,
            waiting_for=progress.waiting_for,
            sessions_voided=progress.sessions_voided,
        )
    )


def read_update(response: worker_pb2.RunMatchResponse) -> SessionResult | Progress | None:
    """Return what a worker was told; None for an update that this version does not know."""
    match response.WhichOneof("update"):
        case "session_finished":
            done = response.session_finished
            forfeit = done.forfeited_by if done.HasField("forfeited_by") else None
            return SessionResult(
                done.number, tuple(done.points), forfeit, tuple(done.records), tuple(done.faults)
            )
        case "progress":
            seen = response.progress
            return Progress(seen.decisions, seen.sessions_open, tuple(seen.waiting_for), seen.sessions_voided)
        case _:
            return None
