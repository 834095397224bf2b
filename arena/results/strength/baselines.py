"""Which bot versions are the baselines of strengths; the operator decides."""

from collections.abc import Sequence
from datetime import datetime

from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.bots.house import register_house_bots
from arena.bots.versions import find_versions
from arena.errors import StateError
from arena.people.audit import record
from arena.store.models import Baseline, BotVersion
from arena.store.storage import Storage


def list_baselines(storage: Storage) -> list[str]:
    """Return the names of the baselines, sorted."""
    named = select(BotVersion.name).join(Baseline, col(Baseline.version_id) == BotVersion.id)
    with storage.read() as tx:
        return sorted(tx.exec(named))


def add_baselines(storage: Storage, actor: Actor, names: Sequence[str], now: datetime) -> None:
    """Make bot versions baselines, all or none; ``owner/bot`` alone is its newest version.

    The next fit of a pool anchors its scale to those that play in it. A house bot that was never run is
    registered: ``arena up`` runs those that are baselines. Raise NotAllowed, SpecError,
    UnknownError, and StateError for one that is a baseline already.
    """
    actor.require(Role.OPERATOR, "say which bots are baselines")
    register_house_bots(storage, actor, names, now)
    with storage.write() as tx:
        for version in find_versions(tx, names, None):
            if tx.get(Baseline, version.id) is not None:
                raise StateError(f"{version.name} is a baseline already")
            tx.add(Baseline(version_id=version.id, named_at=now))
            record(tx, actor, "rating.baseline", version.name, now)


def remove_baselines(storage: Storage, actor: Actor, names: Sequence[str], now: datetime) -> None:
    """Remove bot versions from the baselines, all or none.

    Raise NotAllowed, SpecError, UnknownError, and StateError for one that is not a baseline.
    """
    actor.require(Role.OPERATOR, "say which bots are baselines")
    with storage.write() as tx:
        for version in find_versions(tx, names, None):
            baseline = tx.get(Baseline, version.id)
            if baseline is None:
                raise StateError(f"{version.name} is not a baseline")
            tx.delete(baseline)
            record(tx, actor, "rating.baseline.remove", version.name, now)
