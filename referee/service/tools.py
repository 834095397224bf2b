"""The services for operators' tools: gRPC's own health and reflection."""

from typing import NamedTuple

from referee.service import health, reflection


class Tools(NamedTuple):
    """What load balancers, supervisors and grpcurl call."""

    health: health.HealthServicer
    reflection: reflection.ReflectionServicer


def tools(names: tuple[str, ...]) -> Tools:
    """Return the services; ``names`` are the services that they report, besides themselves."""
    known = (*names, health.SERVICE.full_name, reflection.SERVICE.full_name)
    return Tools(health.HealthServicer(known), reflection.ReflectionServicer(known))
