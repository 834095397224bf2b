"""The permissions of every route, with a call that succeeds for those who have them."""

from dataclasses import dataclass
from enum import StrEnum

from arena.actors import SCOPES, KeyScope, Role
from arena.web.pages.links import wheel_url
from referee.check import SCENARIOS, Report, Result


class Caller(StrEnum):
    """The kinds of callers."""

    ANYBODY = "nobody in particular"
    AUTHOR = "owner-0"
    STRANGER = "owner-1"
    """Another author."""
    OTHER = "otto"
    """An organiser, with a tournament of their own."""
    ORGANISER = "olga"
    """The organiser of all other tournaments and leagues."""
    OPERATOR = "root"


EVERYBODY = frozenset(Caller)
ACCOUNTS = EVERYBODY - {Caller.ANYBODY}
OWNER = frozenset({Caller.AUTHOR, Caller.OPERATOR})
ORGANISERS = frozenset({Caller.OTHER, Caller.ORGANISER, Caller.OPERATOR})
ITS_ORGANISER = frozenset({Caller.ORGANISER, Caller.OPERATOR})
ITS_PEOPLE = OWNER | ITS_ORGANISER
"""Those to whom the bot or the tournament belongs, and the operator."""
OPERATORS = frozenset({Caller.OPERATOR})


@dataclass(frozen=True, slots=True)
class Line:
    """The permissions of a route."""

    who: frozenset[Caller]
    """Who may use it."""
    scope: KeyScope | frozenset[KeyScope] | None
    """The scope that a key must have, or several; None if the route is open to everybody."""
    path: str
    """The call: path and query."""
    body: object = None
    """The JSON body."""

    @property
    def needs(self) -> frozenset[KeyScope]:
        """All scopes that a key must have."""
        return frozenset({self.scope}) if isinstance(self.scope, KeyScope) else self.scope or frozenset()


def _read(
    path: str,
    who: frozenset[Caller] = EVERYBODY,
    scope: KeyScope | frozenset[KeyScope] | None = None,
) -> Line:
    return Line(who, scope, path)


READ, BOTS, TOURNAMENTS, ACCOUNT, OPERATE = KeyScope
INVITING = SCOPES[Role.AUTHOR]
LETTING_IN = SCOPES[Role.AUTHOR] | {OPERATE}
TERMS = {"format": "round-robin", "ruleset": "chinese", "rounds": 2, "sessions": 1, "deals": 1}
LEAGUE = {
    "name": "winter",
    "start": "2026-01-05T18:00:00Z",
    "interval_hours": 24,
    "allow_same_owner": True,
    "tournament": TERMS,
    "divisions": [{"name": "only"}],
}
SPEC = {
    "name": "new",
    "format": "swiss",
    "ruleset": "chinese",
    "rounds": 3,
    "sessions": 2,
    "entrants": [f"member-{number}/bot" for number in range(5)],
}
CHECK = Report(
    "owner-0/bot-0@1", "none", 1, tuple(Result(one.code, one.title, "passed", "", 0.1) for one in SCENARIOS)
).to_object()
PASSWORDS = {"old_password": "correct horse battery", "password": "another horse battery"}
BACKUP = "/operator/backup"
RESET = {"code": "{code}", "password": "another horse battery"}

ROUTES: dict[str, Line] = {
    # accounts
    "POST /accounts": Line(
        EVERYBODY, None, "/accounts", {"account": "new", "password": "correct horse battery"}
    ),
    "POST /session": Line(
        EVERYBODY, None, "/session", {"account": "owner-0", "password": "correct horse battery"}
    ),
    "DELETE /session": Line(EVERYBODY, None, "/session"),
    "GET /me": _read("/me", ACCOUNTS, READ),
    "GET /me/bots": _read("/me/bots", ACCOUNTS, READ),
    "PUT /me/password": Line(ACCOUNTS, ACCOUNT, "/me/password", PASSWORDS),
    "POST /password-reset": Line(EVERYBODY, None, "/password-reset", RESET),
    "GET /me/keys": _read("/me/keys", ACCOUNTS, READ),
    "POST /me/keys": Line(ACCOUNTS, ACCOUNT, "/me/keys", {"name": "new", "scopes": ["account"]}),
    "DELETE /me/keys/{name}": Line(ACCOUNTS, ACCOUNT, "/me/keys/spare"),
    "POST /me/owners": Line(ACCOUNTS, ACCOUNT, "/me/owners", {"invitation": "{invitation}"}),
    "POST /owners": Line(ACCOUNTS, ACCOUNT, "/owners", {"owner": "new"}),
    "GET /owners/{owner}": _read("/owners/owner-0", OWNER, READ),
    "DELETE /owners/{owner}/members/{account}": Line(OWNER, ACCOUNT, "/owners/owner-0/members/friend"),
    "POST /invitations": Line(OWNER, INVITING, "/invitations", {"owner": "owner-0"}),
    "GET /invitations": _read("/invitations", ACCOUNTS, READ),
    "DELETE /invitations/{number}": Line(OWNER, ACCOUNT, "/invitations/1"),
    # for the operator
    "GET /operator/accounts": _read("/operator/accounts", OPERATORS, OPERATE),
    "POST /operator/accounts": Line(
        OPERATORS, LETTING_IN, "/operator/accounts", {"account": "new", "role": "author"}
    ),
    "PATCH /operator/accounts/{account}": Line(
        OPERATORS, frozenset(KeyScope), "/operator/accounts/owner-1", {"role": "operator"}
    ),
    "GET /operator/accounts/{account}": _read("/operator/accounts/owner-1", OPERATORS, OPERATE),
    "POST /operator/accounts/{account}/reset": Line(
        OPERATORS, LETTING_IN, "/operator/accounts/owner-1/reset"
    ),
    "GET /operator/retention": _read("/operator/retention", OPERATORS, OPERATE),
    "POST /operator/ratings/check": Line(OPERATORS, OPERATE, "/operator/ratings/check"),
    "POST /operator/ratings/mend": Line(OPERATORS, OPERATE, "/operator/ratings/mend"),
    "GET /operator/references": _read("/operator/references", OPERATORS, OPERATE),
    "POST /operator/references/compute": Line(OPERATORS, OPERATE, "/operator/references/compute"),
    "GET /operator/backup": _read(BACKUP, OPERATORS, frozenset({OPERATE, READ})),
    "GET /operator/findings": _read("/operator/findings", OPERATORS, OPERATE),
    "GET /operator/audit": _read("/operator/audit", OPERATORS, OPERATE),
    "GET /operator/referees": _read("/operator/referees", OPERATORS, OPERATE),
    "GET /operator/work": _read("/operator/work", OPERATORS, OPERATE),
    "GET /baselines": _read("/baselines"),
    "POST /baselines": Line(OPERATORS, OPERATE, "/baselines", {"bots": ["owner-0/bot-0"]}),
    "POST /baselines/remove": Line(OPERATORS, OPERATE, "/baselines/remove", {"bots": ["owner-2/bot-2"]}),
    "GET /operator/tokens": _read("/operator/tokens", OPERATORS, OPERATE),
    "POST /operator/tokens": Line(OPERATORS, OPERATE, "/operator/tokens", {"name": "new", "scope": "worker"}),
    "POST /operator/tokens/{name}/rotate": Line(
        OPERATORS, frozenset({OPERATE, READ}), "/operator/tokens/organiser/rotate", {}
    ),
    "DELETE /operator/tokens/{name}": Line(OPERATORS, OPERATE, "/operator/tokens/organiser"),
    # results
    "GET /now": _read("/now"),
    "GET /search": _read("/search?q=bo"),
    "GET /leaderboard": _read("/leaderboard"),
    "GET /leaderboard/export": _read("/leaderboard/export"),
    "GET /faults": _read("/faults"),
    "GET /matches": _read("/matches"),
    "GET /matches/{tournament}/{round}/{table}": _read("/matches/cup/1/1"),
    "GET /matches/{tournament}/{round}/{table}/events": _read("/matches/cup/1/1/events"),
    "GET /matches/{tournament}/{round}/{table}/sessions/{session}/deals": _read(
        "/matches/cup/1/1/sessions/1/deals"
    ),
    "GET /matches/{tournament}/{round}/{table}/sessions/{session}/deals/{deal}": _read(
        "/matches/cup/1/1/sessions/1/deals/1"
    ),
    "GET /tournaments/{tournament}/rounds/{round}/tables": _read("/tournaments/cup/rounds/1/tables"),
    "GET /matches/{tournament}/{round}/{table}/sessions/{session}/deals/{deal}/estimates": _read(
        "/matches/cup/1/1/sessions/1/deals/1/estimates"
    ),
    "POST /matches/{tournament}/{round}/{table}/sessions/{session}/deals/{deal}/estimates": Line(
        ACCOUNTS, BOTS, "/matches/cup/1/1/sessions/1/deals/1/estimates", {"seat": 0}
    ),
    "GET /matches/{tournament}/{round}/{table}/sessions/{session}/deals/{deal}/luck": _read(
        "/matches/cup/1/1/sessions/1/deals/1/luck"
    ),
    "GET /deals": _read("/deals?kind=swing"),
    "GET /crosstable": _read("/crosstable?bot=owner-0/bot-0&bot=owner-1/bot-1"),
    # bots
    "GET /bots": _read("/bots"),
    "POST /bots": Line(OWNER, BOTS, "/bots", {"bot": "owner-0/new"}),
    "POST /bots/together": Line(OWNER, BOTS, "/bots/together", {"bots": [{"bot": "owner-0/new"}]}),
    "GET /bots/{owner}/{bot}": _read("/bots/owner-0/bot-0"),
    "PATCH /bots/{owner}/{bot}": Line(OWNER, BOTS, "/bots/owner-0/bot-0", {"language": "go"}),
    "POST /bots/{owner}/{bot}/test-match": Line(OWNER, BOTS, "/bots/owner-0/bot-0/test-match", {}),
    "GET /bots/{owner}/{bot}/history": _read("/bots/owner-0/bot-0/history"),
    "GET /bots/{owner}/{bot}/versus": _read("/bots/owner-0/bot-0/versus?opponent=owner-1/bot-1"),
    "GET /bots/{owner}/{bot}/log": _read("/bots/owner-0/bot-0/log", OWNER, READ),
    "GET /bots/{owner}/{bot}/deals": _read("/bots/owner-0/bot-0/deals", OWNER, READ),
    "PUT /bots/{owner}/{bot}/versions/{number}/token": Line(
        OWNER, frozenset({BOTS, READ}), "/bots/owner-0/bot-0/versions/1/token", {}
    ),
    "DELETE /bots/{owner}/{bot}/versions/{number}/token": Line(
        OWNER, BOTS, "/bots/owner-0/bot-0/versions/1/token"
    ),
    "GET /bots/{owner}/{bot}/versions/{number}/check": _read(
        "/bots/owner-0/bot-0/versions/1/check", OWNER, READ
    ),
    "PUT /bots/{owner}/{bot}/versions/{number}/check": Line(
        OWNER, BOTS, "/bots/owner-0/bot-0/versions/1/check", CHECK
    ),
    # tournaments
    "GET /tournaments": _read("/tournaments"),
    "POST /tournaments": Line(ORGANISERS, TOURNAMENTS, "/tournaments", SPEC),
    "POST /tournaments/preview": Line(ORGANISERS, TOURNAMENTS, "/tournaments/preview", SPEC),
    "GET /tournaments/{tournament}": _read("/tournaments/cup"),
    "GET /tournaments/{tournament}/standings": _read("/tournaments/cup/standings"),
    "GET /tournaments/{tournament}/crosstable": _read("/tournaments/cup/crosstable"),
    "GET /tournaments/{tournament}/pairings": _read("/tournaments/cup/pairings"),
    "GET /tournaments/{tournament}/head": _read("/tournaments/cup/head"),
    "GET /tournaments/{tournament}/export": _read("/tournaments/cup/export"),
    "GET /tournaments/{tournament}/events": _read("/tournaments/cup/events"),
    "PATCH /tournaments/{tournament}": Line(
        ITS_ORGANISER, TOURNAMENTS, "/tournaments/waiting", {"sessions": 3, "decision_ms": 500}
    ),
    "POST /tournaments/{tournament}/preview": Line(
        ITS_ORGANISER, TOURNAMENTS, "/tournaments/waiting/preview", {"sessions": 3, "decision_ms": 500}
    ),
    "DELETE /tournaments/{tournament}": Line(ITS_ORGANISER, TOURNAMENTS, "/tournaments/waiting"),
    "POST /tournaments/{tournament}/lock": Line(ITS_ORGANISER, TOURNAMENTS, "/tournaments/waiting/lock"),
    "POST /tournaments/{tournament}/start": Line(ITS_ORGANISER, TOURNAMENTS, "/tournaments/waiting/start"),
    "POST /tournaments/{tournament}/pause": Line(ITS_ORGANISER, TOURNAMENTS, "/tournaments/running/pause"),
    "POST /tournaments/{tournament}/resume": Line(ITS_ORGANISER, TOURNAMENTS, "/tournaments/paused/resume"),
    "POST /tournaments/{tournament}/stop": Line(ITS_ORGANISER, TOURNAMENTS, "/tournaments/running/stop"),
    "POST /tournaments/{tournament}/cancel": Line(ITS_ORGANISER, TOURNAMENTS, "/tournaments/running/cancel"),
    "POST /tournaments/{tournament}/confirm": Line(
        ITS_ORGANISER, TOURNAMENTS, "/tournaments/provisional/confirm"
    ),
    "POST /tournaments/{tournament}/corrections": Line(
        ITS_ORGANISER,
        TOURNAMENTS,
        "/tournaments/cup/corrections",
        {"bot": "owner-1/bot-1", "correction": "disqualified", "reason": "late"},
    ),
    "POST /tournaments/{tournament}/corrections/preview": Line(
        ITS_ORGANISER,
        TOURNAMENTS,
        "/tournaments/cup/corrections/preview",
        {"bot": "owner-1/bot-1", "correction": "disqualified", "reason": "late"},
    ),
    "POST /tournaments/{tournament}/entrants": Line(
        ITS_PEOPLE, BOTS, "/tournaments/waiting/entrants", {"bot": "owner-0/spare"}
    ),
    "DELETE /tournaments/{tournament}/entrants/{owner}/{bot}": Line(
        ITS_PEOPLE, BOTS, "/tournaments/waiting/entrants/owner-0/bot-4"
    ),
    "GET /tournaments/{tournament}/entry": _read(
        "/tournaments/waiting/entry?bot=owner-0/spare", ITS_PEOPLE, READ
    ),
    "GET /tournaments/{tournament}/soft-play": _read(
        "/tournaments/cup/soft-play", ITS_ORGANISER, TOURNAMENTS
    ),
    "GET /tournaments/{tournament}/entries": _read("/tournaments/asking/entries", ACCOUNTS, READ),
    "POST /tournaments/{tournament}/invitations": Line(
        ITS_ORGANISER, TOURNAMENTS, "/tournaments/asking/invitations", {"invited": ["owner-0"]}
    ),
    "DELETE /tournaments/{tournament}/invitations": Line(
        ITS_ORGANISER, TOURNAMENTS, "/tournaments/asking/invitations?invited=owner-2/bot-2"
    ),
    "POST /tournaments/{tournament}/requests/{owner}/{bot}/approve": Line(
        ITS_ORGANISER, TOURNAMENTS, "/tournaments/asking/requests/owner-1/bot-5/approve"
    ),
    "POST /tournaments/{tournament}/requests/{owner}/{bot}/decline": Line(
        ITS_ORGANISER, TOURNAMENTS, "/tournaments/asking/requests/owner-1/bot-5/decline", {"reason": "late"}
    ),
    # webhooks
    "GET /webhooks": _read("/webhooks", ORGANISERS, TOURNAMENTS),
    "POST /webhooks": Line(
        ORGANISERS, TOURNAMENTS, "/webhooks", {"name": "new", "url": "https://example.org/hook"}
    ),
    "DELETE /webhooks/{name}": Line(ORGANISERS, TOURNAMENTS, "/webhooks/told"),
    "POST /webhooks/{name}/rotate": Line(ORGANISERS, TOURNAMENTS, "/webhooks/told/rotate"),
    "POST /webhooks/{name}/test": Line(ORGANISERS, TOURNAMENTS, "/webhooks/told/test"),
    "GET /webhooks/{name}/deliveries": _read("/webhooks/told/deliveries", ORGANISERS, TOURNAMENTS),
    # leagues and rulesets
    "GET /leagues": _read("/leagues"),
    "GET /leagues/{league}": _read("/leagues/winter"),
    "GET /leagues/{league}/history": _read("/leagues/winter/history"),
    "PUT /leagues/{league}": Line(ITS_ORGANISER, TOURNAMENTS, "/leagues/winter", LEAGUE),
    "POST /leagues/{league}/preview": Line(ITS_ORGANISER, TOURNAMENTS, "/leagues/winter/preview", LEAGUE),
    "POST /leagues/{league}/members": Line(
        ITS_PEOPLE, BOTS, "/leagues/winter/members", {"bot": "owner-0/bot-0"}
    ),
    "DELETE /leagues/{league}/members/{owner}/{bot}": Line(
        ITS_PEOPLE, BOTS, "/leagues/winter/members/owner-0/spare"
    ),
    "GET /leagues/{league}/entries": _read("/leagues/spring/entries", ACCOUNTS, READ),
    "POST /leagues/{league}/invitations": Line(
        ITS_ORGANISER, TOURNAMENTS, "/leagues/spring/invitations", {"invited": ["owner-0"]}
    ),
    "DELETE /leagues/{league}/invitations": Line(
        ITS_ORGANISER, TOURNAMENTS, "/leagues/spring/invitations?invited=owner-2/bot-2"
    ),
    "POST /leagues/{league}/requests/{owner}/{bot}/approve": Line(
        ITS_ORGANISER, TOURNAMENTS, "/leagues/spring/requests/owner-1/bot-1/approve"
    ),
    "POST /leagues/{league}/requests/{owner}/{bot}/decline": Line(
        ITS_ORGANISER, TOURNAMENTS, "/leagues/spring/requests/owner-1/bot-1/decline", {"reason": "late"}
    ),
    "GET /rulesets": _read("/rulesets"),
    "GET /rulesets/{ruleset}": _read("/rulesets/chinese"),
    "GET /rulesets/{ruleset}/plays": _read("/rulesets/chinese/plays?cards=3D"),
    "POST /rulesets/check": Line(EVERYBODY, None, "/rulesets/check", {"name": "house", "extends": "chinese"}),
}
"""The permissions by method and path."""

DEAL = "/matches/cup/1/1/1/1"
OF_DEAL = "/matches/{tournament}/{round}/{table}/{session:int}/{deal:int}"

PAGES: dict[str, Line] = {
    "GET /": _read("/"),
    "GET /leaderboard.csv": _read("/leaderboard.csv"),
    "GET /bots/{owner}/{bot}": _read("/bots/owner-0/bot-0"),
    "GET /bots/{owner}/{bot}/versus": _read("/bots/owner-0/bot-0/versus?opponent=owner-1/bot-1"),
    "GET /bots/{owner}/{bot}/deals": _read("/bots/owner-0/bot-0/deals", OWNER, READ),
    "GET /bots/{owner}/{bot}/deals.jsonl": _read("/bots/owner-0/bot-0/deals.jsonl", OWNER, READ),
    "GET /bots/{owner}/{bot}/log": _read("/bots/owner-0/bot-0/log", OWNER, READ),
    "GET /bots/{owner}/{bot}/manage": _read("/bots/owner-0/bot-0/manage", OWNER, READ),
    "GET /bots/{owner}/{bot}/start": _read("/bots/owner-0/bot-0/start", OWNER, READ),
    "GET /bots/{owner}/{bot}/versions/{number}": _read("/bots/owner-0/bot-0/versions/1", OWNER, READ),
    "GET /bots/{owner}/{bot}/check.svg": _read("/bots/owner-0/bot-0/check.svg"),
    "GET /bots/{owner}/{bot}/feed.atom": _read("/bots/owner-0/bot-0/feed.atom"),
    "GET /bots/{owner}/{bot}/feed.json": _read("/bots/owner-0/bot-0/feed.json"),
    "GET /crosstable": _read("/crosstable?bot=owner-0/bot-0&bot=owner-1/bot-1"),
    "GET /deals": _read("/deals"),
    "GET /faults": _read("/faults"),
    "GET /desk": _read("/desk", ORGANISERS, TOURNAMENTS),
    "GET /docs": _read("/docs"),
    "GET /guide": _read("/guide"),
    "GET /guide/{path:path}": _read("/guide/authors/first-bot"),
    "GET /join": _read("/join"),
    "GET /join/together": _read("/join/together", ACCOUNTS, READ),
    "GET /leagues": _read("/leagues"),
    "GET /leagues/{league}": _read("/leagues/winter"),
    "GET /matches": _read("/matches"),
    "GET /matches/{tournament}/{round}/{table}": _read("/matches/cup/1/1"),
    "GET /matches/{tournament}/{round}/{table}/live": _read("/matches/cup/1/1/live"),
    "GET /matches/{tournament}/{round}/{table}/live/events": _read("/matches/cup/1/1/live/events"),
    "GET /matches/{tournament}/{round}/{table}/{session:int}/{deal:int}": _read(DEAL),
    "GET /matches/{tournament}/{round}/{table}/{session:int}/{deal:int}/replay.html": _read(
        f"{DEAL}/replay.html"
    ),
    "GET /me": _read("/me", ACCOUNTS, READ),
    "GET /now": _read("/now"),
    "GET /operator": _read("/operator", OPERATORS, OPERATE),
    "GET /operator/accounts": _read("/operator/accounts", OPERATORS, OPERATE),
    "GET /operator/accounts/{account}": _read("/operator/accounts/owner-1", OPERATORS, OPERATE),
    "GET /operator/data": _read("/operator/data", OPERATORS, OPERATE),
    "GET /operator/ratings": _read("/operator/ratings", OPERATORS, OPERATE),
    "GET /operator/tokens": _read("/operator/tokens", OPERATORS, OPERATE),
    "GET /operator/tokens/{name}": _read("/operator/tokens/organiser", OPERATORS, OPERATE),
    "GET /operator/audit": _read("/operator/audit", OPERATORS, OPERATE),
    "GET /operator/findings": _read("/operator/findings", OPERATORS, OPERATE),
    "GET /board": _read("/board"),
    "GET /reset-password": _read("/reset-password?code=none"),
    "GET /proto": _read("/proto"),
    "GET /proto.zip": _read("/proto.zip"),
    "GET /proto/{name:path}": _read("/proto/referee/v1/bots.proto"),
    "GET /rules": _read("/rules"),
    "GET /rules/{ruleset}": _read("/rules/chinese"),
    "GET /samples.zip": _read("/samples.zip"),
    "GET /search": _read("/search?q=bot"),
    "GET /sign-in": _read("/sign-in"),
    "GET /sign-up": _read("/sign-up"),
    "GET /simple/": _read("/simple/"),
    "GET /simple/{project}/": _read("/simple/bigtwo-bot/"),
    "GET /simple/{project}/{name}": _read(wheel_url()),
    "GET /starters/{language}.zip": _read("/starters/go.zip"),
    "GET /tournaments": _read("/tournaments"),
    "GET /vectors.zip": _read("/vectors.zip"),
    "GET /tournaments/{tournament}": _read("/tournaments/cup"),
    "GET /tournaments/{tournament}/desk": _read("/tournaments/waiting/desk", ITS_ORGANISER, TOURNAMENTS),
    "GET /tournaments/{tournament}/desk/corrections": _read(
        "/tournaments/cup/desk/corrections", ITS_ORGANISER, TOURNAMENTS
    ),
    "GET /tournaments/{tournament}/desk/soft-play": _read(
        "/tournaments/cup/desk/soft-play", ITS_ORGANISER, TOURNAMENTS
    ),
    "GET /desk/league": _read("/desk/league", ORGANISERS, TOURNAMENTS),
    "GET /leagues/{league}/desk": _read("/leagues/winter/desk", ITS_ORGANISER, TOURNAMENTS),
    "GET /leagues/{league}/desk/change": _read("/leagues/winter/desk/change", ITS_ORGANISER, TOURNAMENTS),
    "GET /webhooks": _read("/webhooks", ORGANISERS, TOURNAMENTS),
    "GET /webhooks/{name}": _read("/webhooks/told", ORGANISERS, TOURNAMENTS),
    "GET /tournaments/{tournament}/desk/change": _read(
        "/tournaments/waiting/desk/change", ITS_ORGANISER, TOURNAMENTS
    ),
    "GET /tournaments/{tournament}/crosstable": _read("/tournaments/cup/crosstable"),
    "GET /tournaments/{tournament}/rounds": _read("/tournaments/cup/rounds?round=1"),
    "GET /tournaments/{tournament}/rounds/{round}": _read("/tournaments/cup/rounds/1"),
    "GET /tournaments/{tournament}/rounds/{round}/live": _read("/tournaments/cup/rounds/1/live"),
    "GET /tournaments/{tournament}/rounds/{round}/live/tables": _read(
        "/tournaments/cup/rounds/1/live/tables"
    ),
}
"""The same for pages, which have no prefix."""

FORMS_OF_ALL = frozenset({"/sign-in", "/sign-up", "/sign-out", "/reset-password"})
"""Forms that anonymous users may send; all others are refused unread."""

FORMS: dict[str, tuple[Caller, KeyScope | frozenset[KeyScope]]] = {
    "/bots/{owner}/{bot}/describe": (Caller.AUTHOR, BOTS),
    "/bots/{owner}/{bot}/open": (Caller.AUTHOR, BOTS),
    "/bots/{owner}/{bot}/token": (Caller.AUTHOR, frozenset({BOTS, READ})),
    "/bots/{owner}/{bot}/token/put-away": (Caller.AUTHOR, BOTS),
    "/bots/{owner}/{bot}/test-match": (Caller.AUTHOR, BOTS),
    "/bots/{owner}/{bot}/versions": (Caller.AUTHOR, frozenset({BOTS, READ})),
    "/bots/{owner}/{bot}/versions/{number}/check": (Caller.AUTHOR, BOTS),
    "/bots/{owner}/{bot}/versions/{number}/revoke": (Caller.AUTHOR, BOTS),
    "/bots/{owner}/{bot}/versions/{number}/rotate": (Caller.AUTHOR, frozenset({BOTS, READ})),
    "/desk": (Caller.ORGANISER, TOURNAMENTS),
    "/join": (Caller.AUTHOR, BOTS),
    "/join/together": (Caller.AUTHOR, BOTS),
    "/leagues/{league}/join": (Caller.AUTHOR, BOTS),
    "/leagues/{league}/leave": (Caller.AUTHOR, BOTS),
    "/matches/{tournament}/{round}/{table}/{session}/{deal}/estimate": (Caller.AUTHOR, BOTS),
    "/me/invitations": (Caller.AUTHOR, INVITING),
    "/me/invitations/use": (Caller.AUTHOR, ACCOUNT),
    "/me/invitations/{number}/revoke": (Caller.AUTHOR, ACCOUNT),
    "/me/keys": (Caller.AUTHOR, ACCOUNT),
    "/me/keys/{name}/revoke": (Caller.AUTHOR, ACCOUNT),
    "/me/owners": (Caller.AUTHOR, ACCOUNT),
    "/me/owners/{owner}/members/{account}/remove": (Caller.AUTHOR, ACCOUNT),
    "/me/password": (Caller.AUTHOR, ACCOUNT),
    "/me/requests/withdraw": (Caller.AUTHOR, BOTS),
    "/me/secrets/put-away": (Caller.AUTHOR, ACCOUNT),
    "/rules": (Caller.AUTHOR, READ),
    "/operator/accounts": (Caller.OPERATOR, OPERATE),
    "/operator/accounts/{account}/disable": (Caller.OPERATOR, OPERATE),
    "/operator/accounts/{account}/enable": (Caller.OPERATOR, OPERATE),
    "/operator/accounts/{account}/reset": (Caller.OPERATOR, LETTING_IN),
    "/operator/invitations": (Caller.OPERATOR, LETTING_IN),
    "/operator/invitations/{number}/revoke": (Caller.OPERATOR, frozenset({ACCOUNT, OPERATE})),
    "/operator/accounts/{account}/role": (Caller.OPERATOR, OPERATE),
    "/operator/ratings/baselines": (Caller.OPERATOR, OPERATE),
    "/operator/ratings/baselines/remove": (Caller.OPERATOR, OPERATE),
    "/operator/ratings/check": (Caller.OPERATOR, OPERATE),
    "/operator/ratings/references": (Caller.OPERATOR, OPERATE),
    "/operator/ratings/mend": (Caller.OPERATOR, OPERATE),
    "/operator/secrets/put-away": (Caller.OPERATOR, OPERATE),
    "/operator/tokens": (Caller.OPERATOR, OPERATE),
    "/operator/tokens/{name}/revoke": (Caller.OPERATOR, OPERATE),
    "/operator/tokens/{name}/rotate": (Caller.OPERATOR, OPERATE),
    "/tournaments/{tournament}/desk": (Caller.ORGANISER, TOURNAMENTS),
    "/tournaments/{tournament}/desk/change": (Caller.ORGANISER, TOURNAMENTS),
    "/tournaments/{tournament}/desk/corrections": (Caller.ORGANISER, TOURNAMENTS),
    "/tournaments/{tournament}/desk/invitations": (Caller.ORGANISER, TOURNAMENTS),
    "/tournaments/{tournament}/desk/invitations/take-back": (Caller.ORGANISER, TOURNAMENTS),
    "/desk/league": (Caller.ORGANISER, TOURNAMENTS),
    "/leagues/{league}/desk/change": (Caller.ORGANISER, TOURNAMENTS),
    "/leagues/{league}/desk/invitations": (Caller.ORGANISER, TOURNAMENTS),
    "/leagues/{league}/desk/invitations/take-back": (Caller.ORGANISER, TOURNAMENTS),
    "/leagues/{league}/desk/members": (Caller.ORGANISER, TOURNAMENTS),
    "/leagues/{league}/desk/members/remove": (Caller.ORGANISER, TOURNAMENTS),
    "/leagues/{league}/desk/requests": (Caller.ORGANISER, TOURNAMENTS),
    "/webhooks": (Caller.ORGANISER, TOURNAMENTS),
    "/webhooks/secrets/put-away": (Caller.ORGANISER, TOURNAMENTS),
    "/webhooks/{name}/remove": (Caller.ORGANISER, TOURNAMENTS),
    "/webhooks/{name}/rotate": (Caller.ORGANISER, TOURNAMENTS),
    "/webhooks/{name}/test": (Caller.ORGANISER, TOURNAMENTS),
    "/tournaments/{tournament}/desk/entries": (Caller.ORGANISER, TOURNAMENTS),
    "/tournaments/{tournament}/enter": (Caller.AUTHOR, BOTS),
    "/tournaments/{tournament}/withdraw": (Caller.AUTHOR, BOTS),
    "/tournaments/{tournament}/desk/delete": (Caller.ORGANISER, TOURNAMENTS),
}
"""Others: somebody who may send each, and the scope that a key must have, or several."""
