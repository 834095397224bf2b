"""TLS at both ends of a channel, as values: settings hold them, also of commands that open no channel."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import grpc


@dataclass(frozen=True, slots=True)
class ClientTls:
    """How a client knows the referee, and how the referee knows the client. All values are PEM."""

    authorities: bytes | None = None
    """Certificates of the authorities to trust; None: those of the system."""
    certificate: bytes | None = None
    """The client's own certificate, where the referee asks for one."""
    key: bytes | None = None
    """The key of ``certificate``."""

    def credentials(self) -> "grpc.ChannelCredentials":
        """Return the same as gRPC's client credentials."""
        import grpc

        return grpc.ssl_channel_credentials(self.authorities, self.key, self.certificate)


@dataclass(frozen=True, slots=True)
class ServerTls:
    """What a referee shows, and asks of its clients. All values are PEM."""

    certificate: bytes
    """The referee's certificate, with the chain up to the authority."""
    key: bytes
    """The key of ``certificate``."""
    client_authorities: bytes | None = None
    """Certificates of the authorities that clients' certificates must come from; None: clients need none."""

    def credentials(self) -> "grpc.ServerCredentials":
        """Return the same as gRPC's server credentials."""
        import grpc

        return grpc.ssl_server_credentials(
            [(self.key, self.certificate)], self.client_authorities, self.client_authorities is not None
        )
