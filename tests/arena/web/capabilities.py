"""On which page the same can be done as with each command, and each operation."""

from collections.abc import Mapping, Sequence

ON_PAGES: Mapping[str, Sequence[str]] = {
    "/sign-up": ["login --sign-up"],
    "/sign-in": ["login", "logout"],
    "/me": [
        "account keys",
        "account revoke-key",
        "account invite",
        "account invitations",
        "account password",
    ],
    "/join": ["bot register"],
    "/join/together": ["bot register --file"],
    "/bots/{owner}/{bot}/start": ["bot new", "bot test"],
    "/bots/{owner}/{bot}/manage": ["bot register", "bot describe"],
    "/bots/{owner}/{bot}/versions/{number}": ["bot check", "bot rotate", "bot revoke"],
    "/bots/{owner}/{bot}/log": ["bot log"],
    "/bots/{owner}/{bot}/deals": ["bot games"],
    "/board": ["leaderboard"],
    "/crosstable": ["crosstable"],
    "/faults": ["bot faults"],
    "/search": ["bot list"],
    "/bots/{owner}/{bot}": ["bot show", "bot history"],
    "/bots/{owner}/{bot}/versus": ["bot versus"],
    "/matches": ["match list"],
    "/matches/{tournament}/{round}/{table}": ["match show"],
    "/matches/{tournament}/{round}/{table}/{session:int}/{deal:int}": ["match show", "bot explain"],
    "/deals": ["deal find"],
    "/rules": ["rules list", "rules check"],
    "/rules/{ruleset}": ["rules show"],
    "/tournaments": ["tournament list"],
    "/tournaments/{tournament}": [
        *("tournament show", "tournament standings", "tournament watch", "tournament may-enter"),
        *("tournament enter", "tournament withdraw", "export"),
    ],
    "/tournaments/{tournament}/crosstable": ["tournament standings --crosstable"],
    "/tournaments/{tournament}/rounds/{round}": ["tournament pairings"],
    "/desk": ["tournament create"],
    "/tournaments/{tournament}/desk": [
        *("tournament lock", "tournament start", "tournament pause", "tournament resume", "tournament stop"),
        *("tournament cancel", "tournament confirm", "tournament delete", "tournament entries"),
        *("tournament invite", "tournament approve", "tournament decline"),
    ],
    "/tournaments/{tournament}/desk/change": ["tournament change"],
    "/tournaments/{tournament}/desk/corrections": ["tournament correct"],
    "/leagues": ["league list"],
    "/leagues/{league}": ["league show", "league history", "league join", "league leave"],
    "/desk/league": ["league apply"],
    "/leagues/{league}/desk": ["league entries", "league invite", "league approve", "league decline"],
    "/leagues/{league}/desk/change": ["league apply"],
    "/webhooks": ["webhook list", "webhook add"],
    "/webhooks/{name}": ["webhook deliveries", "webhook test", "webhook rotate", "webhook remove"],
    "/operator": ["bot list --connected"],
    "/operator/accounts": [
        "account list",
        "account create",
        "account invite",
        "account invitations",
        "account revoke-invitation",
    ],
    "/operator/accounts/{account}": [
        "account role",
        "account disable",
        "account enable",
        "account reset",
    ],
    "/operator/tokens": ["token list", "token create"],
    "/operator/tokens/{name}": ["token rotate", "token revoke"],
    "/operator/ratings": ["rating rebuild", "rating baseline", "rating references"],
    "/operator/data": ["backup"],
    "/operator/findings": ["doctor"],
    "/operator/audit": ["audit"],
}
"""What commands do that a page does, too, by the page's path; some do it only with an option."""

NOT_ON_PAGES: Mapping[str, Sequence[str]] = {
    "they run an arena, or a part of it, on its host, or prepare that": [
        *("up", "demo", "web", "referee", "worker", "beat", "migrate", "restore", "config"),
    ],
    "they run bots on your own machine; pages have the deals to download": [
        *("bot run", "bot doctor", "bot rewind", "play", "compare"),
    ],
    "they are for programs, and need no arena; pages of rulesets let people try cards": [
        *("rules compare", "rules legal", "rules random", "rules replay"),
    ],
    "it checks exports without trusting an arena, so not on its pages": ["verify"],
    "it computes, and needs no arena": ["match seating"],
}
"""Commands that no page replaces, by the reason."""

SHOWN: Mapping[str, str] = {
    "me": "/me",
    "list_bots": "/search",
    "search_names": "/search",
    "show_bot": "/bots/{owner}/{bot}",
    "show_history": "/bots/{owner}/{bot}",
    "show_versus": "/bots/{owner}/{bot}/versus",
    "show_now": "/now",
    "show_match": "/matches/{tournament}/{round}/{table}",
    "list_deals": "/matches/{tournament}/{round}/{table}",
    "show_deal": "/matches/{tournament}/{round}/{table}/{session:int}/{deal:int}",
    "show_same_deal": "/tournaments/{tournament}/rounds/{round}/sessions/{session}/deals/{deal}",
    "list_tables": "/tournaments/{tournament}/rounds/{round}/live",
    "show_tournament": "/tournaments/{tournament}",
    "tournament_standings": "/tournaments/{tournament}",
    "tournament_head": "/tournaments/{tournament}",
    "may_enter": "/tournaments/{tournament}",
    "tournament_crosstable": "/tournaments/{tournament}/crosstable",
    "tournament_pairings": "/tournaments/{tournament}/rounds/{round}",
    "show_league": "/leagues/{league}",
    "league_history": "/leagues/{league}",
    "league_entries": "/leagues/{league}/desk",
    "show_ruleset": "/rules/{ruleset}",
    "try_cards": "/rules/{ruleset}",
}
"""Operations whose results pages take from where these have them, by name; the page of each."""
