"""Kinds of faults and notices, and why sessions end: names that go into records, messages and tables."""

from enum import StrEnum


class FaultKind(StrEnum):
    """What a bot did wrong, as it stands in deal records."""

    ILLEGAL = "illegal"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    DISCONNECT = "disconnect"
    STALL = "stall"
    FLOOD = "flood"
    EXCEPTION = "exception"


class SessionEnd(StrEnum):
    """Why a session ended."""

    PLAYED = "played"
    FORFEIT = "forfeit"
    VOID = "void"


class NoticeCode(StrEnum):
    """What a notice is about."""

    STALE_MOVE = "stale_move"
    UNKNOWN_SESSION = "unknown_session"
    UNEXPECTED = "unexpected"
    NOT_SEATED = "not_seated"
    REPEATED_MOVE = "repeated_move"
    UNKNOWN_TURN = "unknown_turn"
