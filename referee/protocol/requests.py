"""Conversion between values and the messages of workers: matches and their results."""

import json
from collections.abc import Iterable, Iterator, Sequence

from google.protobuf.duration_pb2 import Duration
from pydantic import ValidationError

from referee.deals.action import Forfeit
from referee.deals.session import Legacy
from referee.errors import MatchRefused
from referee.matches.match import (
    Attempt,
    DealsFinished,
    Finished,
    Limits,
    MatchBot,
    MatchSpec,
    Progress,
    Rated,
    SessionResult,
    SessionSpec,
    Signed,
    Update,
)
from referee.protocol.wire import FORFEIT_REASONS, ON_FORFEIT, write_limits, write_signed
from referee.reading.validation import Wording, problems
from referee.worker.v1alpha1 import worker_pb2

SESSIONS_AT_ONCE = 16
"""Finished deals of how many sessions are in one message: while it is encoded and sent, no bot is served."""


def read_match(request: worker_pb2.RunMatchRequest) -> MatchSpec:
    """Return the match that a request describes. Raise MatchRefused if its ruleset is not a JSON object."""
    return MatchSpec(
        match_id=request.match_id,
        tournament=request.tournament,
        round=request.round,
        table=request.table,
        ruleset=read_ruleset(request.ruleset),
        bots=tuple(map(_read_bot, request.bots)),
        sessions=tuple(map(_read_session, request.sessions)),
        deals=_read_deals(request),
        commitment=request.commitment,
        limits=_read_limits(request),
        shared_deals=request.shared_deals,
        pool=request.pool,
    )


def _read_bot(bot: worker_pb2.MatchBot) -> MatchBot:
    rated = Rated(bot.rating, bot.rated_matches) if bot.HasField("rating") else None
    return MatchBot(bot.version_id, bot.name, rated)


def _write_bot(bot: MatchBot) -> worker_pb2.MatchBot:
    message = worker_pb2.MatchBot(version_id=bot.version_id, name=bot.name)
    if bot.rated is not None:
        message.rating, message.rated_matches = bot.rated
    return message


def _read_session(session: worker_pb2.MatchSession) -> SessionSpec:
    return SessionSpec(
        session.number,
        tuple(session.seating),
        session.seed,
        session.attempt,
        _read_finished(session.after) if session.HasField("after") else None,
    )


def _read_finished(after: worker_pb2.DealsBefore) -> Finished:
    last = Legacy(
        after.deals,
        after.dealer,
        after.winner if after.HasField("winner") else None,
        after.loser if after.HasField("loser") else None,
    )
    banks = _read_banks(after.banks)
    forfeits = tuple([_read_forfeit(forfeit) for forfeit in after.forfeits])
    return Finished(last, tuple(after.scores), tuple(after.faults), banks, after.deals_digest, forfeits)


def _read_forfeit(forfeit: worker_pb2.Forfeit) -> Forfeit:
    return Forfeit(forfeit.seat, forfeit.deal, forfeit.action, _FORFEIT_REASONS[forfeit.reason])


_FORFEIT_REASONS = {number: reason for reason, number in FORFEIT_REASONS.items()}
_ON_FORFEIT = {number: rule for rule, number in ON_FORFEIT.items()}


def _deals_before(finished: Finished) -> worker_pb2.DealsBefore:
    last = finished.last
    return worker_pb2.DealsBefore(
        deals=last.number,
        dealer=last.dealer,
        winner=last.winner,
        loser=last.loser,
        scores=finished.scores,
        faults=finished.faults,
        banks=_banks(finished.bank_ms),
        deals_digest=finished.deals_digest,
        forfeits=[
            worker_pb2.Forfeit(
                seat=forfeit.seat,
                deal=forfeit.deal,
                action=forfeit.action,
                reason=FORFEIT_REASONS[forfeit.why],
            )
            for forfeit in finished.forfeits
        ],
    )


def _read_banks(banks: Iterable[Duration]) -> tuple[int, ...]:
    return tuple([bank.ToMilliseconds() for bank in banks])


def _banks(bank_ms: Iterable[int]) -> list[Duration]:
    banks = []
    for left in bank_ms:
        bank = Duration()
        bank.FromMilliseconds(left)
        banks.append(bank)
    return banks


def read_ruleset(text: str) -> dict[str, object]:
    """Return the ruleset of a request as an object. Raise MatchRefused if it is not a JSON object."""
    try:
        ruleset = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MatchRefused(f"ruleset: not JSON: {error}") from None
    if not isinstance(ruleset, dict):
        raise MatchRefused("ruleset: not a JSON object")
    return ruleset


def _read_deals(request: worker_pb2.RunMatchRequest) -> int:
    """Return how many deals a session has at most; 0 if that is left to the ruleset."""
    if request.HasField("deals") and not request.deals:
        raise MatchRefused("deals: 0 is less than 1")
    return request.deals


def _read_limits(request: worker_pb2.RunMatchRequest) -> Limits:
    limits = request.limits
    try:
        return Limits.model_validate(
            {
                "decision_ms": limits.decision.ToMilliseconds(),
                "join_seconds": request.join.ToMilliseconds() / 1000,
                "faults": limits.faults,
                "on_forfeit": _ON_FORFEIT.get(limits.on_forfeit, "default_action"),
                "bank_ms": limits.bank.ToMilliseconds(),
                "increment_ms": limits.increment.ToMilliseconds(),
                "credit_ms": limits.credit.ToMilliseconds(),
                "ask_forced": limits.ask_forced,
                "match_seconds": request.time.ToMilliseconds() / 1000,
                "min_sessions": request.min_sessions or 1,
            }
        )
    except ValidationError as error:
        wrong = problems(error, Limits.model_json_schema(), Wording("limits"))
        raise MatchRefused(f"limits: {'; '.join(map(str, wrong))}") from None


def _write_limits(request: worker_pb2.RunMatchRequest, limits: Limits) -> None:
    write_limits(request.limits, limits)
    request.join.FromSeconds(limits.join_seconds)
    request.time.FromSeconds(limits.match_seconds)
    request.min_sessions = limits.min_sessions


def match_request(spec: MatchSpec) -> worker_pb2.RunMatchRequest:
    """Return the request that describes a match."""
    request = worker_pb2.RunMatchRequest(
        match_id=spec.match_id,
        tournament=spec.tournament,
        round=spec.round,
        table=spec.table,
        ruleset=json.dumps(dict(spec.ruleset), separators=(",", ":")),
        bots=map(_write_bot, spec.bots),
        sessions=[
            worker_pb2.MatchSession(
                number=session.number,
                seating=session.seating,
                seed=session.seed,
                attempt=session.attempt,
                after=None if session.after is None else _deals_before(session.after),
            )
            for session in spec.sessions
        ],
        deals=spec.deals or None,
        commitment=spec.commitment,
        shared_deals=spec.shared_deals,
        pool=spec.pool,
    )
    _write_limits(request, spec.limits)
    return request


def result_response(result: SessionResult) -> worker_pb2.RunMatchResponse:
    """Return the message that reports a finished session."""
    return worker_pb2.RunMatchResponse(
        session_finished=worker_pb2.SessionFinished(
            number=result.number,
            points=result.points,
            forfeited_by=result.forfeit,
            forfeits=result.forfeits,
            faults=result.faults,
            records=result.records,
            **({} if result.signed is None else write_signed(result.signed)),
        )
    )


def deals_responses(finished: Sequence[DealsFinished]) -> Iterator[worker_pb2.RunMatchResponse]:
    """Yield the messages that report the finished deals of open sessions, of a few sessions each."""
    for start in range(0, len(finished), SESSIONS_AT_ONCE):
        sessions = [
            worker_pb2.SessionDeals(session=deals.number, records=deals.records, banks=_banks(deals.bank_ms))
            for deals in finished[start : start + SESSIONS_AT_ONCE]
        ]
        yield worker_pb2.RunMatchResponse(deals_finished=worker_pb2.DealsFinished(sessions=sessions))


def progress_response(progress: Progress) -> worker_pb2.RunMatchResponse:
    """Return the message that reports how a match stands."""
    return worker_pb2.RunMatchResponse(
        progress=worker_pb2.MatchProgress(
            decisions=progress.decisions,
            sessions_open=progress.sessions_open,
            waiting_for=progress.waiting_for,
            sessions_voided=progress.sessions_voided,
            sessions_left=progress.sessions_left,
        )
    )


def begun_response(latest: int) -> worker_pb2.RunMatchResponse:
    """Return the message that says that attempts up to ``latest`` have been begun before."""
    return worker_pb2.RunMatchResponse(attempts_begun=worker_pb2.AttemptsBegun(latest=latest))


def write_attempts(attempts: Iterable[Attempt]) -> list[worker_pb2.SessionAttempt]:
    """Return messages that name attempts at sessions."""
    return [worker_pb2.SessionAttempt(session=each.session, attempt=each.number) for each in attempts]


def read_attempts(attempts: Iterable[worker_pb2.SessionAttempt]) -> list[Attempt]:
    """Return the attempts that these messages name."""
    return [Attempt(attempt.session, attempt.attempt) for attempt in attempts]


def read_updates(response: worker_pb2.RunMatchResponse) -> list[Update]:
    """Return the updates that a worker received; none for a kind that this version does not know."""
    match response.WhichOneof("update"):
        case "session_finished":
            done = response.session_finished
            forfeit = done.forfeited_by if done.HasField("forfeited_by") else None
            signed = Signed(done.digest, done.signature, done.public_key) if done.digest else None
            points, records, faults = tuple(done.points), tuple(done.records), tuple(done.faults)
            forfeits = tuple(done.forfeits)
            return [SessionResult(done.number, points, forfeit, records, faults, signed, forfeits)]
        case "progress":
            seen = response.progress
            waiting, left = tuple(seen.waiting_for), tuple(seen.sessions_left)
            return [Progress(seen.decisions, seen.sessions_open, waiting, seen.sessions_voided, left)]
        case "deals_finished":
            return [
                DealsFinished(deals.session, tuple(deals.records), _read_banks(deals.banks))
                for deals in response.deals_finished.sessions
            ]
        case _:
            return []
