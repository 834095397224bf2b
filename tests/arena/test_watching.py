"""Who may watch the matches of a real worker and a real referee, with the default settings."""

from contextlib import ExitStack
from pathlib import Path

import grpc

from arena.bots import versions
from arena.people import tokens
from arena.store.models import utc_now
from referee.net.client import referee_status
from referee.v1 import spectators_pb2, spectators_pb2_grpc
from tests.arena.fakes import ROOT
from tests.arena.running import RunningArena, running_arena
from tests.waiting import DEADLINE, wait_for

CUP = {
    "format": "swiss",
    "rounds": 1,
    "ruleset": "chinese-2",
    "sessions": 2,
    "deals": 1,
    "join_seconds": 600,  # the bots never come, so the matches last as long as they are needed
}
MATCHES = 5
"""Number of matches in all the tournaments of the test."""


class Gallery:
    """Where spectators watch the matches of an arena."""

    def __init__(self, arena: RunningArena, channel: grpc.Channel) -> None:
        self._arena = arena
        self._stub = spectators_pb2_grpc.SpectatorServiceStub(channel)
        self._inside: list[grpc.Call] = []  # a call that nobody keeps is cancelled

    def wait(self) -> None:
        """Wait until all matches are running and everyone who was admitted is watching."""

        def there() -> bool:
            refused = [call.details() for call in self._inside if not call.is_active()]
            assert refused == []
            settings = self._arena.settings
            status = referee_status(settings.listen, settings.worker_secret())
            return (status.matches, status.spectators) == (MATCHES, len(self._inside))

        wait_for(there)

    def admits(self, match_id: str, token: str = "") -> None:
        """Assert that a spectator gets in, and let it stay."""
        self._inside.append(self._call(match_id, token))
        self.wait()

    def refuses(self, match_id: str, token: str = "") -> str:
        """Assert that a spectator is refused, and return the reason."""
        call = self._call(match_id, token, timeout=DEADLINE)
        assert call.code() in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
        return str(call.details())

    def _call(self, match_id: str, token: str, timeout: float | None = None) -> grpc.Call:
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        request = spectators_pb2.WatchMatchRequest(match_id=match_id)
        return self._stub.WatchMatch(request, metadata=metadata, timeout=timeout)


def test_watch_when_a_tournament_is_duplicate_then_it_needs_an_organisers_or_a_spectators_token(
    tmp_path: Path,
) -> None:
    with running_arena(tmp_path, {}, drain_seconds=0) as arena, ExitStack() as stack:
        made = [versions.register_version(arena.storage, ROOT, f"owner-{n}/bot", utc_now()) for n in range(4)]
        names = [one.bot for one in made]
        arena.start_tournament("plain", bytes(32), entrants=names, **CUP)
        arena.start_tournament("same", bytes(32), entrants=names, duplicate=True, **CUP)
        arena.start_tournament("alone", bytes(32), entrants=names[:2], duplicate=True, **CUP)
        gallery = Gallery(arena, stack.enter_context(grpc.insecure_channel(arena.settings.listen)))
        gallery.wait()
        scopes = {
            scope: tokens.create_token(arena.storage, ROOT, scope, scope, utc_now()).token
            for scope in ("worker", "organiser", "spectator")
        }
        for match_id in ("same/1/1", "same/1/2"):
            for token in ("", made[0].token, made[3].token, scopes["worker"]):
                assert gallery.refuses(match_id, token) == (
                    "authorization: the deals of this match are played at other tables too; "
                    "watching needs a token of an organiser or a spectator"
                )
            gallery.admits(match_id, scopes["organiser"])
            gallery.admits(match_id, scopes["spectator"])
        for match_id in ("plain/1/1", "plain/1/2", "alone/1/1"):
            gallery.admits(match_id)
