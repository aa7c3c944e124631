"""Signatures of snapshots and checkpoints, which anybody can check with the published keys.

A signature is a JWS in compact form with ES256. Source: RFC 7515; RFC 7518 section 3.4. Verifying uses the platform's own
keys only: members of the header that carry a key or its address (`jwk`, `jku`, `x5c`, `x5u`) are ignored, nothing is
fetched. Tokens are signed by `tokens` alone.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

import jwt

from core.pipeline import Call, Rows, Statement

from . import signing_keys
from .signing_keys import Key, Purpose

TYPES: Final[Mapping[str, str]] = {
    Purpose.SNAPSHOT: "prescription-snapshot+jws",
    Purpose.CHECKPOINT: "audit-checkpoint+jws",
}
ALGORITHM: Final = "ES256"

Signed = Mapping[str, Any]
Listener = Callable[[str, str, Iterable[UUID], datetime], None]
_MAX_HEADER = 4_096
_SEGMENTS = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
_jws = jwt.PyJWS(algorithms=[ALGORITHM])
_es256 = jwt.get_algorithm_by_name(
    ALGORITHM
)  # PyJWS reads each character of a payload in Python, for some milliseconds
_listers: dict[str, Callable[[str], Iterable[Signed]]] = {}
_listeners: list[Listener] = []


class _ActiveKey(NamedTuple):
    """The id of the active key of a purpose."""

    kid: str


_ACTIVE = Statement.of(
    "SELECT k.kid FROM organizations_signingkey k WHERE k.purpose = $1 AND k.status = 'active'", row=_ActiveKey
)


@dataclass(frozen=True, slots=True)
class Verified:
    """What is known of a signature; `payload` is None unless `signature_ok`.

    `kid` and `typ` are as the header names them, "" where it does not. The dates are those of the platform's key of this
    purpose, None where it has none with this id.
    """

    signature_ok: bool
    kid: str = ""
    typ: str = ""
    payload: bytes | None = None
    key_created_at: datetime | None = None
    retired_at: datetime | None = None
    compromised_at: datetime | None = None


def signing_key_call(purpose: str) -> Call:
    """Return the call that reads the id of the active key, to travel in the trip of a write that will sign."""
    return Call(_ACTIVE, [purpose])


def signing_key_of(rows: Rows) -> str:
    """Return the id that `signing_key_call` read; "" where the purpose has no key yet."""
    found = rows.of(_ActiveKey)
    return found[0].kid if found else ""


def sign(purpose: str, payload: bytes, typ: str, *, kid: str = "") -> str:
    """Sign bytes with the active key of a purpose and return the JWS in compact form.

    :param kid: the id that `signing_key_of` returned. With it a key that was replaced is never used, and a cached key costs
        no query. Without it a cached key may be a minute old.
    :raises ValueError: the purpose does not sign this type; a programming error.
    """
    if TYPES.get(purpose) != typ:
        raise ValueError(f"keys for {purpose} do not sign {typ}")
    key = signing_keys.active_key(purpose, kid=kid)
    private: Any = signing_keys.private_half(key)
    return _jws.encode(payload, private, algorithm=ALGORITHM, headers={"kid": key.kid, "typ": typ})


def verify(purpose: str, jws: str) -> Verified:
    """Check a JWS that the platform may have signed for a purpose; whatever is wrong with it, no error is raised."""
    header = _header(jws)
    kid, typ = _text(header, "kid"), _text(header, "typ")
    key = signing_keys.key_named(kid, purpose=purpose) if kid else None
    dates = (key.created_at, key.retired_at, key.compromised_at) if key else (None, None, None)
    if key is None or typ != TYPES.get(purpose) or header.get("alg") != ALGORITHM or {"crit", "b64"} & header.keys():
        return Verified(False, kid, typ, None, *dates)
    signed, _, signature = jws.rpartition(".")
    public: Any = key.public
    if not _es256.verify(signed.encode(), public, _decoded(signature)):
        return Verified(False, kid, typ, None, *dates)
    return Verified(True, kid, typ, _decoded(signed.partition(".")[2]), *dates)


def published(purpose: str) -> list[Key]:
    """List the keys of a purpose that are not compromised, the active one first."""
    return signing_keys.published_keys(purpose)


def key_named(purpose: str, kid: str) -> Key | None:
    """Return a key by its id, compromised or not; None if the platform has none for this purpose."""
    return signing_keys.key_named(kid, purpose=purpose)


def register_signatures(purpose: str, lister: Callable[[str], Iterable[Signed]]) -> None:
    """Name the function that lists what a key has signed, given its id; each member of the list is a JSON object.

    It is called, over all tenants, when a key is found to be compromised.
    """
    _listers[purpose] = lister


def signed_by(purpose: str, kid: str) -> list[Signed] | None:
    """List what a key has signed; None where no app has registered its signatures for this purpose."""
    lister = _listers.get(purpose)
    return None if lister is None else list(lister(kid))


def tell_of_compromises(listener: Listener) -> None:
    """Register who is told that a key is compromised: with its id, its purpose, the tenants it has signed for, and since when."""
    _listeners.append(listener)


def compromise_told(purpose: str, kid: str, signed: Iterable[Signed], at: datetime) -> None:
    """Tell everybody who wants to know of a compromised key and of what it has signed."""
    tenants = sorted({UUID(str(one["tenant_id"])) for one in signed if "tenant_id" in one})
    for listener in _listeners:
        listener(kid, purpose, tenants, at)


def _header(jws: str) -> dict[str, Any]:
    """Return the protected header; empty where the text is no JWS in compact form and its one canonical spelling."""
    parts = _SEGMENTS.fullmatch(jws)
    if parts is None or len(parts[1]) > _MAX_HEADER or not all(map(_is_canonical, parts.groups())):
        return {}
    return _members(parts[1])


@lru_cache(maxsize=64)
def _members(segment: str) -> dict[str, Any]:
    try:
        found = json.loads(_decoded(segment), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member is named twice")  # RFC 7515 section 4
    return found


def _is_canonical(segment: str) -> bool:
    """Tell whether no bits of the last character are dropped by decoding: a signed text has one spelling."""
    last = segment[-(len(segment) % 4 or 4) :]
    try:
        return base64.urlsafe_b64encode(_decoded(last)).rstrip(b"=").decode() == last
    except ValueError:
        return False


def _decoded(segment: str) -> bytes:
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))


def _text(header: Mapping[str, Any], name: str) -> str:
    value = header.get(name)
    return value if isinstance(value, str) and len(value) <= 100 else ""
