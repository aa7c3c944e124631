"""The public keys with which a client signs assertions: RSA of 2048 bits or more for RS384, P-384 for ES384.

A client registers either a JSON Web Key Set or the address of one. Source: RFC 7517; SMART App Launch 2.2,
client-confidential-asymmetric.html, "Registering a client".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from core import egress
from core.errors import FieldError, InvalidFields
from organizations.models import OAuthApplication

MAX_KEYS = 20
SMALLEST_BITS, LARGEST_BITS = 2048, 8192

_KEY_TYPES = {"RS384": "RSA", "ES384": "EC"}
ALGORITHMS = tuple(_KEY_TYPES)
_ALGORITHM_OF = {key_type: algorithm for algorithm, key_type in _KEY_TYPES.items()}
_PUBLIC = {"RSA": ("n", "e"), "EC": ("crv", "x", "y")}
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth"})
_CURVE = "P-384"

Jwk = dict[str, str]


class UnusableKeys(InvalidFields):
    """The keys of a client are not public keys for RS384 or ES384, or their address is refused."""

    code = "unusable_keys"
    title = "The client's keys cannot be used."

    def __init__(self, message: str, field: str = "jwks") -> None:
        super().__init__(errors=[FieldError(field, self.code, message)])


@dataclass(frozen=True, slots=True)
class ClientKeys:
    """The keys of one client: in `jwks`, or at `uri`."""

    jwks: list[Jwk] | None = None
    uri: str = ""


def inline(document: Any) -> ClientKeys:
    """Return the keys of a set that the client hands in; every key must be usable.

    :raises UnusableKeys: a key is private, symmetric, weak or of another algorithm, or lacks an id of its own.
    """
    keys = [_read(key) for key in _members(document)]
    if not keys:
        raise UnusableKeys("The set has no key.")
    ids = [key["kid"] for key in keys]
    if len(set(ids)) < len(ids):
        raise UnusableKeys("Two keys have the same kid.")
    return ClientKeys(jwks=keys)


def at_address(uri: str) -> ClientKeys:
    """Return the address of a client's keys. Looks the name up, so it is called before a transaction is opened.

    :raises UnusableKeys: the address is not https, or is not on the public internet.
    """
    way = egress.rules()
    try:
        egress.check_url(uri, way, addresses=egress.look_up(uri, way))
    except egress.BlockedDestination as error:
        raise UnusableKeys(error.errors[0].message, "jwks_uri") from error
    return ClientKeys(uri=uri)


def usable(document: Any) -> list[Jwk]:
    """Return the usable keys of a fetched set; keys for other purposes are left out. Source: RFC 7517 section 5.

    :raises UnusableKeys: the document is not a key set, or has too many keys.
    """
    found = []
    for key in _members(document):
        try:
            found.append(_read(key))
        except UnusableKeys:
            continue
    return found


def find(keys: Sequence[Jwk], *, kid: str, algorithm: str) -> jwt.PyJWK | None:
    """Return the one key with this id that fits the algorithm; None if there is none, or more than one."""
    matching = [key for key in keys if key["kid"] == kid and key["kty"] == _KEY_TYPES[algorithm]]
    return jwt.PyJWK(dict(matching[0]), algorithm) if len(matching) == 1 else None


def named(client: OAuthApplication) -> list[str]:
    """Return what staff are shown of a client's keys: their ids, or their address."""
    return [client.jwks_uri] if client.jwks_uri else [key["kid"] for key in client.jwks or ()]


def _members(document: Any) -> list[Any]:
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list):
        raise UnusableKeys('A key set is an object with a list "keys".')
    if len(keys) > MAX_KEYS:
        raise UnusableKeys(f"A key set has at most {MAX_KEYS} keys.")
    return keys


def _read(key: Any) -> Jwk:
    """Return the public members of one key.

    :raises UnusableKeys: the key is private, symmetric, weak, broken or for another purpose.
    """
    if not isinstance(key, dict):
        raise UnusableKeys("A key is an object.")
    kid, key_type = key.get("kid"), key.get("kty")
    if not isinstance(kid, str) or not 0 < len(kid) <= 255:
        raise UnusableKeys("A key needs a kid of 1 to 255 characters.")
    shown = ascii(kid)
    if key_type == "oct" or "k" in key:
        raise UnusableKeys(f"The key {shown} is symmetric. Register a public key.")
    if key.keys() & _PRIVATE:
        text = f"The key {shown} holds its private half. Make a new key, and register its public half alone."
        raise UnusableKeys(text)
    if not isinstance(key_type, str) or key_type not in _PUBLIC:
        raise UnusableKeys(f"The key {shown} is neither RSA nor EC.")
    if key_type == "EC" and key.get("crv") != _CURVE:
        raise UnusableKeys(f"The curve of the key {shown} is not {_CURVE}.")
    _check_purpose(key, shown, _ALGORITHM_OF[key_type])
    found: dict[str, Any] = {name: key.get(name) for name in ("kid", "kty", *_PUBLIC[key_type])}
    _check_numbers(found, shown, _ALGORITHM_OF[key_type])
    return found


def _check_purpose(key: dict[str, Any], shown: str, algorithm: str) -> None:
    operations = key.get("key_ops", ["verify"])
    verifies = isinstance(operations, list) and "verify" in operations
    if key.get("use", "sig") != "sig" or not verifies:
        raise UnusableKeys(f"The key {shown} is not for signatures.")
    if key.get("alg", algorithm) != algorithm:
        raise UnusableKeys(f"The algorithm of the key {shown} is not {algorithm}.")


def _check_numbers(members: dict[str, Any], shown: str, algorithm: str) -> None:
    try:
        key = jwt.PyJWK(members, algorithm).key
    except jwt.PyJWTError as error:
        raise UnusableKeys(f"The key {shown} cannot be read.") from error
    if isinstance(key, RSAPublicKey) and not SMALLEST_BITS <= key.key_size <= LARGEST_BITS:
        raise UnusableKeys(f"The key {shown} has {key.key_size} bits, not {SMALLEST_BITS} to {LARGEST_BITS}.")
