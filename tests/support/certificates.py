"""Certificates that sign themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Certificate(NamedTuple):
    """The files of a certificate and its key, in PEM."""

    pem: Path
    key: Path


def certificate(folder: Path, address: str = "127.0.0.1") -> Certificate:
    """Make a certificate of an IP address, and its key, in two files of a folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(exist_ok=True)
    files = Certificate(folder / "tls.pem", folder / "tls.key")
    files.pem.write_bytes(made.public_bytes(Encoding.PEM))
    unencrypted = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    files.key.write_bytes(key.private_bytes(*unencrypted))
    return files
