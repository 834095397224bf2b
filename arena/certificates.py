"""Certificates and keys in PEM, read from the files that settings name."""

import ssl
from pathlib import Path

from arena.errors import SettingsError


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
    if b"-----BEGIN " not in content or kind + b"-----" not in content:
        raise SettingsError(name, f"{file} has no {kind.decode().lower()} in PEM")
    return content
