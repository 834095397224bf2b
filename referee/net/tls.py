"""TLS at both ends of a channel, as values, for settings of commands that may never open a channel."""

import logging
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import grpc

BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""Byte order marks, of which TLS libraries make nothing."""

BEGINS_WITH_BOM = "begins with a byte order mark: save it as plain text without one"
"""What is wrong with a file in PEM that begins with one."""

RETRY_SECONDS = 60.0
"""How soon files that could not be used are read again although they have not changed: a certificate may not
have been valid yet."""

T = TypeVar("T")

log = logging.getLogger("referee")


class FromFiles(Generic[T]):
    """A value that is read from files, and again when one of them has changed.

    If that fails, as between the writing of a certificate and of its key, the last value stays.
    """

    def __init__(
        self, files: Sequence[Path], read: Callable[[], T], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Read the files; raise what ``read`` raises."""
        self._files, self._read, self._clock = files, read, clock
        self._marks = self._look()
        self._retry_at = math.inf
        self._value = read()

    def latest(self) -> T:
        """Return the present value."""
        marks = self._look()
        if marks != self._marks or self._clock() >= self._retry_at:
            self._marks = marks
            try:
                self._value, self._retry_at = self._read(), math.inf
                log.info("read again: %s", ", ".join(map(str, self._files)))
            except Exception as error:  # whatever it is, the last value is better than none
                self._retry_at = self._clock() + RETRY_SECONDS
                log.warning("%s; what was read before stays in use", error)
        return self._value

    def _look(self) -> list[tuple[int, int, int] | None]:
        return [*map(_mark, self._files)]


def _mark(file: Path) -> tuple[int, int, int] | None:
    """Return what differs once a file has been written or replaced; None if it cannot be read."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


@dataclass(frozen=True, slots=True)
class ClientTls:
    """How a client recognises the referee, and the referee the client. All values are PEM."""

    authorities: bytes | None = None
    """Certificates of the authorities to trust; None for those of the system."""
    certificate: bytes | None = None
    """The client's own certificate, if the referee asks for one."""
    key: bytes | None = None
    """The key of ``certificate``."""
    renew: "Callable[[], ClientTls] | None" = field(default=None, compare=False, repr=False)
    """Returns what takes the place of these values at present; None if nothing ever does."""

    def latest(self) -> "ClientTls":
        """Return the values of the present."""
        return self if self.renew is None else self.renew()

    def credentials(self) -> "grpc.ChannelCredentials":
        """Return the values of the present as gRPC's client credentials, for one channel."""
        import grpc

        tls = self.latest()
        return grpc.ssl_channel_credentials(tls.authorities, tls.key, tls.certificate)


@dataclass(frozen=True, slots=True)
class ServerTls:
    """What a referee presents to its clients, and requires of them. All values are PEM."""

    certificate: bytes
    """The referee's certificate, with the chain up to the authority."""
    key: bytes
    """The key of ``certificate``."""
    client_authorities: bytes | None = None
    """Certificates of the authorities that clients' certificates must come from; None if these need none."""
    renew: "Callable[[], ServerTls] | None" = field(default=None, compare=False, repr=False)
    """Returns what takes the place of these values at present; None if nothing ever does."""

    def latest(self) -> "ServerTls":
        """Return the values of the present."""
        return self if self.renew is None else self.renew()

    def credentials(self) -> "grpc.ServerCredentials":
        """Return gRPC's server credentials; each new connection is served with the values of the present."""
        import grpc

        served = self

        def renewed() -> "grpc.ServerCertificateConfiguration | None":
            nonlocal served
            before, served = served, self.latest()
            return None if served == before else served._configuration()

        required = self.client_authorities is not None
        return grpc.dynamic_ssl_server_credentials(self._configuration(), renewed, required)  # type: ignore[arg-type]

    def _configuration(self) -> "grpc.ServerCertificateConfiguration":
        import grpc

        pair = (self.key, self.certificate)
        return grpc.ssl_server_certificate_configuration([pair], self.client_authorities)


Tls = TypeVar("Tls", ClientTls, ServerTls)


def from_files(files: Sequence[Path], read: Callable[[], Tls]) -> Tls:
    """Return the values that ``read`` takes from these files; they are renewed when the files change."""
    source = FromFiles(files, read)
    return replace(source.latest(), renew=source.latest)
