"""Signatures by a prescriber's own key, beside the platform's seal: a detached JWS with the chain of certificates.

The certificate leads to a root that the tenant trusts, and its subject names the prescriber's licence. Members of the header
that name an address (`jku`, `x5u`) are ignored, nothing is fetched; revocation is not looked up.
Source: contract, prescriptions.md "Own key"; RFC 7515 section 4.1.6 and appendix F; RFC 5280 section 6.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import jwt
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509.oid import NameOID
from cryptography.x509.verification import Criticality, ExtensionPolicy, Policy, PolicyBuilder, Store, VerificationError

from core.errors import Unprocessable

MOST_CERTIFICATES: Final = 6
SHORTEST_RSA_BITS: Final = 2048
_LONGEST_HEADER: Final = 30_000
_DETACHED: Final = re.compile(r"([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]+)")
_IDENTIFIERS: Final = (NameOID.SERIAL_NUMBER, NameOID.USER_ID, NameOID.X500_UNIQUE_IDENTIFIER)


class ExternalSignatureUntrusted(Unprocessable):
    """The certificate leads to no root that the tenant trusts, is not valid now, or is another prescriber's."""

    code = "external_signature_untrusted"
    title = "The certificate of the signature is not trusted here."


class ExternalSignatureMismatch(Unprocessable):
    """The signature is not one over the prescription as it is now."""

    code = "external_signature_mismatch"
    title = "The signature is over another content."


@dataclass(frozen=True, slots=True)
class _Detached:
    """A detached JWS, read and not yet checked; the first certificate is that of the key."""

    header: str
    signature: str
    algorithm: str
    certificates: tuple[x509.Certificate, ...]


def _is_rsa(key: Any) -> bool:
    return isinstance(key, RSAPublicKey) and key.key_size >= SHORTEST_RSA_BITS


def _is_p256(key: Any) -> bool:
    return isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1)


def _is_p384(key: Any) -> bool:
    return isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP384R1)


# Source: RFC 7518 sections 3.3 to 3.5. Every other algorithm is refused, `none` first of all.
_KEYS: Final[dict[str, Callable[[Any], bool]]] = {
    "RS256": _is_rsa,
    "PS256": _is_rsa,
    "ES256": _is_p256,
    "ES384": _is_p384,
}
_jws: Final = jwt.PyJWS(algorithms=list(_KEYS))


def demand_external(jws: str, text: str, roots: Sequence[str], licence: str | None, at: datetime) -> None:
    """Demand a detached JWS by the prescriber's own key over the canonical text of the content.

    :raises ExternalSignatureUntrusted: it is no such JWS, its certificate does not lead to a root, is not valid at that
        time or for signatures, or names another licence.
    :raises ExternalSignatureMismatch: it is not a signature over this text.
    """
    found = _read(jws)
    _check_path(found.certificates, roots, at)
    _check_licence(found.certificates[0], licence)
    key: Any = found.certificates[0].public_key()
    if not _KEYS[found.algorithm](key):
        raise ExternalSignatureUntrusted("The key of the certificate does not fit the algorithm.")
    whole = f"{found.header}.{base64.urlsafe_b64encode(text.encode()).rstrip(b'=').decode()}.{found.signature}"
    try:
        _jws.decode(whole, key, algorithms=[found.algorithm])
    except jwt.InvalidTokenError:
        raise ExternalSignatureMismatch from None


def is_external_sound(jws: str, text: str, roots: Sequence[str], licence: str | None, at: datetime) -> bool:
    """Tell whether `demand_external` takes a signature."""
    try:
        demand_external(jws, text, roots, licence, at)
    except (ExternalSignatureUntrusted, ExternalSignatureMismatch):
        return False
    return True


def _read(jws: str) -> _Detached:
    parts = _DETACHED.fullmatch(jws)
    if parts is None or len(parts[1]) > _LONGEST_HEADER:
        raise ExternalSignatureUntrusted("Send a detached JWS in compact form: header, two dots, signature.")
    header = _header(parts[1])
    algorithm, chain = header.get("alg"), header.get("x5c")
    if algorithm not in _KEYS:
        raise ExternalSignatureUntrusted(f"The algorithm must be one of {', '.join(_KEYS)}.")
    if {"crit", "b64"} & header.keys():
        raise ExternalSignatureUntrusted("The header must not have crit or b64.")
    if not isinstance(chain, list) or not 1 <= len(chain) <= MOST_CERTIFICATES:
        raise ExternalSignatureUntrusted(f"The header must have x5c with 1 to {MOST_CERTIFICATES} certificates.")
    return _Detached(parts[1], parts[2], str(algorithm), tuple(map(_certificate, chain)))


def _header(segment: str) -> dict[str, Any]:
    try:
        found = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ExternalSignatureUntrusted("The header of the JWS is no JSON object.")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member is named twice")  # RFC 7515 section 4
    return found


def _certificate(text: Any) -> x509.Certificate:
    try:
        if not isinstance(text, str):
            raise TypeError
        return x509.load_der_x509_certificate(base64.b64decode(text, validate=True))
    except (TypeError, ValueError, binascii.Error):
        raise ExternalSignatureUntrusted("A member of x5c is no certificate.") from None


def _check_path(certificates: Sequence[x509.Certificate], roots: Sequence[str], at: datetime) -> None:
    """Demand a path from the first certificate to a root, all of it valid at the time."""
    if not roots:
        raise ExternalSignatureUntrusted("The tenant trusts no certificates (policy external_signing_roots).")
    trusted = [found for one in roots for found in x509.load_pem_x509_certificates(one.encode())]
    verifier = (
        PolicyBuilder()
        .store(Store(trusted))
        .time(at)
        .max_chain_depth(MOST_CERTIFICATES)
        .extension_policies(ca_policy=_AUTHORITIES, ee_policy=_SIGNERS)
        .build_client_verifier()
    )
    try:
        verifier.verify(certificates[0], list(certificates[1:]))
    except (VerificationError, ValueError):
        message = "The certificate does not lead to a root that the tenant trusts, or is not valid now."
        raise ExternalSignatureUntrusted(message) from None


def _signs(_: Policy, __: x509.Certificate, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not (usage.digital_signature or usage.content_commitment):
        raise ValueError("the key is not for signatures")


def _is_no_authority(_: Policy, __: x509.Certificate, basic: x509.BasicConstraints | None) -> None:
    if basic is not None and basic.ca:
        raise ValueError("the key is that of an authority")


def _is_authority(_: Policy, __: x509.Certificate, basic: x509.BasicConstraints) -> None:
    if not basic.ca:
        raise ValueError("the issuer is no authority")


def _issues(_: Policy, __: x509.Certificate, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not usage.key_cert_sign:
        raise ValueError("the issuer must not issue certificates")


# Certificates of persons have no name of a host, which the defaults of the library demand.
_SIGNERS: Final = (
    ExtensionPolicy.permit_all()
    .may_be_present(x509.KeyUsage, Criticality.AGNOSTIC, _signs)
    .may_be_present(x509.BasicConstraints, Criticality.AGNOSTIC, _is_no_authority)
)
_AUTHORITIES: Final = (
    ExtensionPolicy.permit_all()
    .require_present(x509.BasicConstraints, Criticality.AGNOSTIC, _is_authority)
    .may_be_present(x509.KeyUsage, Criticality.AGNOSTIC, _issues)
)


def _check_licence(certificate: x509.Certificate, licence: str | None) -> None:
    """Demand that the subject names the prescriber's licence."""
    named = {one.value for kind in _IDENTIFIERS for one in certificate.subject.get_attributes_for_oid(kind)}
    if not licence or licence not in named:
        raise ExternalSignatureUntrusted("The subject of the certificate does not name the prescriber's licence.")
