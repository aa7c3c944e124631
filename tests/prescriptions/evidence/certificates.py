"""Certificates of a prescriber's own key, and detached signatures by it."""

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

KEYS = {
    "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "PS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
}


@dataclass
class Issued:
    """A key with its certificate."""

    key: Any
    certificate: x509.Certificate

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def der(self) -> str:
        return base64.b64encode(self.certificate.public_bytes(serialization.Encoding.DER)).decode()


def issue(
    name: str,
    by: Issued | None = None,
    *,
    key: Any = None,
    licence: str = "",
    ca: bool = False,
    days: tuple[int, int] = (-1, 30),
    signs: bool = True,
    path_length: int | None = None,
) -> Issued:
    """Issue a certificate; without an issuer it signs itself."""
    own = key or KEYS["ES256"]()
    at = datetime.now(UTC).replace(microsecond=0)
    names = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    names += [x509.NameAttribute(NameOID.SERIAL_NUMBER, licence)] if licence else []
    subject = x509.Name(names)
    usage = {"digital_signature": signs and not ca, "key_cert_sign": ca, "crl_sign": ca, "key_encipherment": not signs}
    others = ("content_commitment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only")
    authority = by.key.public_key() if by else own.public_key()
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(at + timedelta(days=days[0]))
        .not_valid_after(at + timedelta(days=days[1]))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=path_length), critical=True)
        .add_extension(x509.KeyUsage(**usage, **dict.fromkeys(others, False)), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(own.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority), critical=False)
    )
    return Issued(own, made.sign(by.key if by else own, hashes.SHA256()))


def detached(text: str, signer: Issued, *chain: Issued, algorithm: str = "ES256", **header: Any) -> str:
    """Sign a text as a detached JWS with x5c."""
    whole = {"x5c": [one.der for one in (signer, *chain)], **header}
    made = jwt.PyJWS().encode(text.encode(), signer.key, algorithm=algorithm, headers=whole)
    head, _, signature = made.split(".")
    return f"{head}..{signature}"


def with_header(jws: str, **changes: Any) -> str:
    """Change members of a header; None takes one away."""
    head, _, signature = jws.split(".")
    found = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))) | changes
    kept = json.dumps({name: value for name, value in found.items() if value is not None}).encode()
    return f"{base64.urlsafe_b64encode(kept).rstrip(b'=').decode()}..{signature}"
