"""Certificates and keys in PEM, read from the files that settings name."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.errors import SettingsError
from referee.net.failures import EXPIRED, NOT_YET_VALID, OTHER_HOST
from referee.net.tls import BEGINS_WITH_BOM, BOMS

STEPS = 4
"""How often each end of a handshake in memory has its turn, which is more than it needs."""


def read_pair(
    certificate_name: str, certificate: Path, key_name: str, key: Path, protocol: ssl._SSLMethod
) -> tuple[bytes, bytes]:
    """Read a certificate and its key in PEM, and check that they belong together.

    Raise SettingsError, which names the setting whose file is wrong.
    """
    pem = _read_pem(certificate_name, certificate, b"CERTIFICATE"), _read_pem(key_name, key, b"PRIVATE KEY")
    try:
        ssl.SSLContext(protocol).load_cert_chain(certificate, key, password=lambda: b"")
    except (ssl.SSLError, OSError, ValueError) as error:
        if "KEY_VALUES_MISMATCH" in str(error):
            raise SettingsError(key_name, f"{key} is not the key of {certificate}") from None
        raise SettingsError(
            certificate_name, f"{certificate} or {key} is damaged, or needs a password"
        ) from None
    return pem


def read_authorities(name: str, file: Path) -> bytes:
    """Read the certificates of authorities in PEM; raise SettingsError if they are damaged."""
    pem = _read_pem(name, file, b"CERTIFICATE")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=str(file))
    except ssl.SSLError:
        raise SettingsError(name, f"{file} has a damaged certificate") from None
    return pem


def _read_pem(name: str, file: Path, kind: bytes) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise SettingsError(name, f"cannot read {file}: {error.strerror}") from None
    if content.startswith(BOMS):
        raise SettingsError(name, f"{file} {BEGINS_WITH_BOM}")
    if b"-----BEGIN " not in content or kind + b"-----" not in content:
        raise SettingsError(name, f"{file} has no {kind.decode().lower()} in PEM")
    return content


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A handshake of a server and a client on this host, before the first of others fails."""

    name: str
    """The setting that names the server's certificate."""
    certificate: Path
    key: Path
    trusted_name: str
    """The setting that names the authorities that the client trusts."""
    trusted: Path | None
    """Their file; None for those of the system."""
    client_authorities: Path | None = None
    """The file of the authorities of clients; None if these need no certificate."""
    client: tuple[Path | None, Path | None] = (None, None)
    """The client's certificate and key."""

    def require(self, hosts: Sequence[str | None]) -> None:
        """Raise SettingsError unless the client takes the server for one of these hosts.

        None stands for any host.
        """
        wrong = [self._tried(host) for host in hosts]
        if all(wrong):
            raise next(filter(None, wrong))

    def _tried(self, host: str | None) -> SettingsError | None:
        """Return what is wrong with a handshake; None if it is a success."""
        server, client = self._server(), self._client(host)
        there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
        ends = [client.wrap_bio(back, there, server_hostname=host), server.wrap_bio(there, back, True)]
        for _ in range(STEPS):
            for at_client, end in zip((True, False), ends, strict=True):
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    continue
                except ssl.SSLCertVerificationError as error:
                    return self._said(error.verify_code, host) if at_client else self._said_of_client(error)
                except ssl.SSLError as error:
                    return SettingsError(self.name, f"{self.certificate} cannot be used: {error.reason}")
        return None

    def _server(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        if self.client_authorities is not None and None not in self.client:
            context.load_verify_locations(self.client_authorities)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _client(self, host: str | None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.trusted)
        context.check_hostname = host is not None
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # gRPC does not require that
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # and takes any certificate for an authority
        certificate, key = self.client
        if certificate is not None and key is not None:
            context.load_cert_chain(certificate, key)
        return context

    def _said(self, code: int, host: str | None) -> SettingsError:
        if code in OTHER_HOST:
            return SettingsError(self.name, f"{self.certificate} is not for {host}, as which it is reached")
        return SettingsError(self.name, f"{self.certificate} {self._fault(code, self.trusted_name)}")

    def _said_of_client(self, error: ssl.SSLCertVerificationError) -> SettingsError:
        fault = self._fault(error.verify_code, "tls_client_ca")
        return SettingsError("tls_client_certificate", f"{self.client[0]} {fault}")

    @staticmethod
    def _fault(code: int, authorities: str) -> str:
        if code == EXPIRED:
            return "has expired, or a certificate above it in the same file has"
        if code == NOT_YET_VALID:
            return "is not valid yet: is the clock of this host right?"
        return (
            f"does not lead to an authority of {authorities}: it must come from one of those, and its file "
            "must hold all certificates between the two"
        )
