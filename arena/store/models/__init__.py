"""The tables. Rows of results never change once written; what a row waits for is in its state column.

Public names are unique and never change, so they are stored in the row that they name. All times are in UTC.
"""

from sqlmodel import SQLModel

from arena.store.models.accounts import (
    Account,
    ApiKey,
    AuditEntry,
    BrowserSession,
    Invitation,
    KeptAnswer,
    Membership,
    PasswordReset,
)
from arena.store.models.bots import Bot, BotLogEntry, BotVersion, Owner, Token
from arena.store.models.columns import utc_now, widen_numbers
from arena.store.models.entries import EntryInvitation, EntryRequest, EntryState
from arena.store.models.leagues import Arrival, League, LeagueMember, Season, SeasonDivision, SeasonPlace
from arena.store.models.luck import (
    EntrantChances,
    EntrantLuck,
    LuckTally,
    PlacePiece,
    PoolSlope,
    ReferenceCheck,
    SessionReference,
)
from arena.store.models.matches import (
    ArenaKey,
    DatabaseLineage,
    DealEstimate,
    Match,
    MatchState,
    OpenDeal,
    Process,
    RefereeKey,
    Seat,
    Session,
    SessionRecords,
)
from arena.store.models.results import Encounter, EntrantSum, Rating, RatingChange
from arena.store.models.strengths import (
    Baseline,
    LeftMeeting,
    Meeting,
    Strength,
    StrengthFit,
    StrengthPoint,
    StrengthScore,
    StrengthSums,
)
from arena.store.models.tallies import FaultTally, Highlight, HighlightKind, SeatTally
from arena.store.models.tournaments import (
    BEGUN,
    COUNTED,
    STUCK,
    UNWEIGHED,
    Entrant,
    EntrantState,
    Round,
    RoundState,
    StoredRuleset,
    Tournament,
    TournamentEvent,
    TournamentHead,
    TournamentState,
)
from arena.store.models.webhooks import DeliveryState, Webhook, WebhookDelivery

widen_numbers(SQLModel.metadata)

__all__ = [
    "BEGUN",
    "COUNTED",
    "STUCK",
    "UNWEIGHED",
    "Account",
    "ApiKey",
    "ArenaKey",
    "Arrival",
    "AuditEntry",
    "Baseline",
    "Bot",
    "BotLogEntry",
    "BotVersion",
    "BrowserSession",
    "DatabaseLineage",
    "DealEstimate",
    "DeliveryState",
    "Encounter",
    "Entrant",
    "EntrantChances",
    "EntrantLuck",
    "EntrantState",
    "EntrantSum",
    "EntryInvitation",
    "EntryRequest",
    "EntryState",
    "FaultTally",
    "Highlight",
    "HighlightKind",
    "Invitation",
    "KeptAnswer",
    "League",
    "LeagueMember",
    "LeftMeeting",
    "LuckTally",
    "Match",
    "MatchState",
    "Meeting",
    "Membership",
    "OpenDeal",
    "Owner",
    "PasswordReset",
    "PlacePiece",
    "PoolSlope",
    "Process",
    "Rating",
    "RatingChange",
    "RefereeKey",
    "ReferenceCheck",
    "Round",
    "RoundState",
    "Season",
    "SeasonDivision",
    "SeasonPlace",
    "Seat",
    "SeatTally",
    "Session",
    "SessionRecords",
    "SessionReference",
    "StoredRuleset",
    "Strength",
    "StrengthFit",
    "StrengthPoint",
    "StrengthScore",
    "StrengthSums",
    "Token",
    "Tournament",
    "TournamentEvent",
    "TournamentHead",
    "TournamentState",
    "Webhook",
    "WebhookDelivery",
    "utc_now",
]
