"""Checks of certificates: what is served, what the files hold, and whether they end soon."""

import socket
import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from cryptography import x509

from arena.host.addresses import NO_PLACE, split_address
from arena.host.settings import Settings
from arena.running.findings import Check, Finding, fail, ok, warn

SOON = timedelta(days=14)
"""How long before its end a certificate is warned of."""

CONNECT_SECONDS = 5.0
"""How long a server may take to present its certificate."""

RENEW = "renew it; what is in its file is served to new connections within seconds"
REACHED = "is its file renewed where it is served? the log there says why it would not be used"


def certificate_checks(settings: Settings, now: datetime) -> dict[str, Check]:
    """Return a check for each file with a certificate of the arena, and for each port that serves one."""
    files = [settings.tls_certificate, settings.tls_client_certificate, settings.web_certificate]
    checks: dict[str, Check] = {
        f"certificate {file}": partial(_in_file, file, now) for file in files if file is not None
    }
    return checks | {
        f"certificate of {address}": partial(_at_port, settings, address, now)
        for address in _served(settings)
    }


def _served(settings: Settings) -> Iterator[str]:
    if settings.encrypted:
        yield from settings.referees
    if settings.web_certificate is not None:
        yield settings.web_listen


def _in_file(file: Path, now: datetime) -> list[Finding]:
    """Return the finding about a file; none if it cannot be read, which the check of the settings says."""
    try:
        chain = x509.load_pem_x509_certificates(file.read_bytes())
    except (OSError, ValueError):
        return []
    return [_finding(f"certificate {file}", min(each.not_valid_after_utc for each in chain), now, RENEW)]


def _at_port(settings: Settings, address: str, now: datetime) -> list[Finding]:
    """Return the finding about a port; none if nothing is served, which other checks say."""
    try:
        served = served_certificate(settings, address)
    except OSError:
        return []
    return [_finding(f"certificate of {address}", served.not_valid_after_utc, now, REACHED)]


def _finding(name: str, end: datetime, now: datetime, advice: str) -> Finding:
    if end <= now:
        return fail(name, f"ended at {end:%Y-%m-%d %H:%M} UTC", advice)
    if end - now < SOON:
        return warn(name, f"ends at {end:%Y-%m-%d %H:%M} UTC", advice)
    return ok(name, f"valid until {end:%Y-%m-%d}")


def served_certificate(settings: Settings, address: str) -> x509.Certificate:
    """Return the certificate that is served at ``host:port``, whether or not it is valid. Raise OSError."""
    host, port = split_address(address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    if settings.tls_client_certificate is not None and settings.tls_client_key is not None:
        context.load_cert_chain(settings.tls_client_certificate, settings.tls_client_key)
    place = "localhost" if host in NO_PLACE else host
    with (
        socket.create_connection((place, port), CONNECT_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=host) as secured,
    ):
        certificate = secured.getpeercert(binary_form=True)
    assert certificate is not None
    return x509.load_der_x509_certificate(certificate)
