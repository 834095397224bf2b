"""Between values and the messages of workers and authors: matches, their results, and the log of bots."""

import json
from datetime import datetime

from referee.errors import MatchRefused
from referee.matches.journal import LogEntry, LogQuery
from referee.matches.match import Limits, MatchBot, MatchSpec, Progress, SessionResult, SessionSpec
from referee.v1 import log_pb2, match_pb2

# The log of bots


def read_query(request: log_pb2.ReadLogRequest) -> LogQuery:
    """Which entries a request asks for."""
    given = {"limit": request.limit} if request.limit else {}
    return LogQuery(request.bot, request.kind or None, request.session or None, after=request.after, **given)


def query_request(query: LogQuery) -> log_pb2.ReadLogRequest:
    """The request for entries."""
    return log_pb2.ReadLogRequest(
        bot=query.bot,
        kind=query.kind or "",
        session=query.session or "",
        limit=query.limit,
        after=query.after,
    )


def log_message(entry: LogEntry) -> log_pb2.LogEntry:
    """The message of an entry."""
    return log_pb2.LogEntry(
        id=entry.id,
        time=entry.at.isoformat(),
        bot=entry.bot,
        referee=entry.referee,
        kind=entry.kind,
        code=entry.code,
        text=entry.text,
        session_id=entry.session_id,
        details=json.dumps(dict(entry.details), default=str),
    )


def read_entry(message: log_pb2.LogEntry) -> LogEntry:
    """The entry of a message."""
    return LogEntry(
        id=message.id,
        at=datetime.fromisoformat(message.time),
        bot=message.bot,
        referee=message.referee,
        kind=message.kind,
        code=message.code,
        text=message.text,
        session_id=message.session_id,
        details=json.loads(message.details),
    )


# Matches


def read_match(request: match_pb2.RunMatchRequest) -> MatchSpec:
    """The match that a request describes. Raises MatchRefused if its ruleset is no JSON object."""
    try:
        ruleset = json.loads(request.ruleset)
    except (ValueError, RecursionError) as error:
        raise MatchRefused(f"ruleset: not JSON: {error}") from None
    if not isinstance(ruleset, dict):
        raise MatchRefused("ruleset: not a JSON object")
    return MatchSpec(
        match_id=request.match_id,
        tournament=request.tournament,
        round=request.round,
        table=request.table,
        ruleset=ruleset,
        bots=tuple(MatchBot(bot.version_id, bot.name) for bot in request.bots),
        sessions=tuple(SessionSpec(s.number, tuple(s.seating), s.seed) for s in request.sessions),
        deals=request.deals,
        commitment=request.commitment,
        limits=Limits(
            decision_ms=request.decision_ms,
            join_ms=request.join_ms,
            faults=request.fault_limit,
            bank_ms=request.bank_ms,
            increment_ms=request.increment_ms,
            credit_ms=request.credit_ms,
            ask_forced=request.ask_forced,
        ),
        shared_deals=request.shared_deals,
    )


def match_request(spec: MatchSpec) -> match_pb2.RunMatchRequest:
    """The request that describes a match."""
    return match_pb2.RunMatchRequest(
        match_id=spec.match_id,
        tournament=spec.tournament,
        round=spec.round,
        table=spec.table,
        ruleset=json.dumps(dict(spec.ruleset), separators=(",", ":")),
        bots=[match_pb2.MatchBot(version_id=bot.version_id, name=bot.name) for bot in spec.bots],
        sessions=[
            match_pb2.MatchSession(number=s.number, seating=s.seating, seed=s.seed) for s in spec.sessions
        ],
        deals=spec.deals,
        commitment=spec.commitment,
        decision_ms=spec.limits.decision_ms,
        join_ms=spec.limits.join_ms,
        fault_limit=spec.limits.faults,
        bank_ms=spec.limits.bank_ms,
        increment_ms=spec.limits.increment_ms,
        credit_ms=spec.limits.credit_ms,
        ask_forced=spec.limits.ask_forced,
        shared_deals=spec.shared_deals,
    )


def result_response(result: SessionResult) -> match_pb2.RunMatchResponse:
    """The message that tells of a finished session."""
    return match_pb2.RunMatchResponse(
        session_finished=match_pb2.SessionFinished(
            number=result.number,
            points=result.points,
            forfeited=result.forfeit is not None,
            forfeited_by=result.forfeit or 0,
            faults=result.faults,
            records=result.records,
        )
    )


def progress_response(progress: Progress) -> match_pb2.RunMatchResponse:
    """The message that shows how a match stands."""
    return match_pb2.RunMatchResponse(
        progress=match_pb2.MatchProgress(
            decisions=progress.decisions,
            sessions_open=progress.sessions_open,
            waiting_for=progress.waiting_for,
            sessions_voided=progress.sessions_voided,
        )
    )


def read_update(response: match_pb2.RunMatchResponse) -> SessionResult | Progress | None:
    """What a worker was told; None for an update that this version does not know."""
    match response.WhichOneof("update"):
        case "session_finished":
            done = response.session_finished
            forfeit = done.forfeited_by if done.forfeited else None
            return SessionResult(
                done.number, tuple(done.points), forfeit, tuple(done.records), tuple(done.faults)
            )
        case "progress":
            seen = response.progress
            return Progress(seen.decisions, seen.sessions_open, tuple(seen.waiting_for), seen.sessions_voided)
        case _:
            return None
