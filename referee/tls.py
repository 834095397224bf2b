"""TLS at both ends of a channel, as values, for settings of commands that may never open a channel."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import grpc

BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""Byte order marks, of which TLS libraries make nothing."""

BEGINS_WITH_BOM = "begins with a byte order mark: save it as plain text without one"
"""What is wrong with a file in PEM that begins with one."""


@dataclass(frozen=True, slots=True)
class ClientTls:
    """How a client recognises the referee, and the referee the client. All values are PEM."""

    authorities: bytes | None = None
    """Certificates of the authorities to trust; None for those of the system."""
    certificate: bytes | None = None
    """The client's own certificate, if the referee asks for one."""
    key: bytes | None = None
    """The key of ``certificate``."""

    def credentials(self) -> "grpc.ChannelCredentials":
        """Return these values as gRPC's client credentials."""
        import grpc

        return grpc.ssl_channel_credentials(self.authorities, self.key, self.certificate)


@dataclass(frozen=True, slots=True)
class ServerTls:
    """What a referee presents to its clients, and requires of them. All values are PEM."""

    certificate: bytes
    """The referee's certificate, with the chain up to the authority."""
    key: bytes
    """The key of ``certificate``."""
    client_authorities: bytes | None = None
    """Certificates of the authorities that clients' certificates must come from; None if these need none."""

    def credentials(self) -> "grpc.ServerCredentials":
        """Return these values as gRPC's server credentials."""
        import grpc

        return grpc.ssl_server_credentials(
            [(self.key, self.certificate)], self.client_authorities, self.client_authorities is not None
        )
