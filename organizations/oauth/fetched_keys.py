"""Key sets at clients' addresses (`jwks_uri`), kept in the process for as long as their Cache-Control allows.

A set is fetched again at once, though at most every few seconds, for an assertion that names an unknown key: so a
client may rotate its keys at any time, and forged key ids do not become requests to its server.
Source: SMART App Launch 2.2, client-confidential-asymmetric.html, "Signature Verification".
"""

import json
import logging
import threading
import time
from dataclasses import dataclass, field

from core import egress

from . import client_keys
from .client_keys import Jwk

log = logging.getLogger(__name__)

LONGEST_BYTES = 65_536
DEFAULT_SECONDS = 300.0
LONGEST_SECONDS = 3600.0
UNKNOWN_KID_SECONDS = 10.0
RETRY_SECONDS = 10.0

_NEVER = float("-inf")


class KeysUnavailable(Exception):
    """The key set cannot be fetched or read; the message says why in a word."""


@dataclass(slots=True)
class _Kept:
    """The copy of one key set; one thread at a time fetches it. All times are by the monotonic clock."""

    uri: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    keys: list[Jwk] = field(default_factory=list)
    asked_at: float = _NEVER
    fresh_until: float = _NEVER
    unknown_kid_at: float = _NEVER
    failed_at: float = _NEVER
    fault: str = ""

    def is_fresh(self, arrived: float) -> bool:
        """Tell whether the copy serves a request: not too old, or fetched since the request arrived."""
        return self.fresh_until > time.monotonic() or self.asked_at >= arrived

    def has(self, kid: str) -> bool:
        """Tell whether the copy has a key with this id."""
        return any(key["kid"] == kid for key in self.keys)

    def fetch(self) -> None:
        """Fetch the set, unless that failed just now; a failure leaves the copy as it is."""
        began = time.monotonic()
        if began - self.failed_at < RETRY_SECONDS:
            return
        document = egress.fetch(self.uri, accept="application/json", longest_bytes=LONGEST_BYTES)
        try:
            self.keys = _keys_of(document)
        except KeysUnavailable as error:
            self.failed_at, self.fault = time.monotonic(), str(error)
            log.warning("key set not fetched", extra={"uri": self.uri, "fault": self.fault})
            return
        self.asked_at = began
        self.fresh_until = began + _lifetime(document.headers)


_kept: dict[str, _Kept] = {}  # one for each registered address


def keys_at(uri: str, *, kid: str) -> list[Jwk]:
    """Return the keys at an address, fetched if the copy is too old or has no key with this id.

    Asks the network, so it is called before a transaction is opened.

    :raises KeysUnavailable: the set cannot be fetched or read, now or a few seconds ago.
    """
    arrived = time.monotonic()
    kept = _kept.setdefault(uri, _Kept(uri))
    if kept.is_fresh(arrived) and kept.has(kid):
        return kept.keys
    with kept.lock:
        if not kept.is_fresh(arrived):
            kept.fetch()
        elif not kept.has(kid) and time.monotonic() - kept.unknown_kid_at >= UNKNOWN_KID_SECONDS:
            kept.unknown_kid_at = time.monotonic()
            kept.fetch()
        if not kept.is_fresh(arrived):
            raise KeysUnavailable(kept.fault)
        return kept.keys


def forget() -> None:
    """Drop the process's copies, in tests."""
    _kept.clear()


def _keys_of(document: egress.Document) -> list[Jwk]:
    if document.error:
        raise KeysUnavailable(document.error)
    if document.status != 200:
        raise KeysUnavailable(f"status {document.status}")
    try:
        return client_keys.usable(json.loads(document.body))
    except (ValueError, RecursionError, client_keys.UnusableKeys) as error:
        raise KeysUnavailable("not a key set") from error


def _lifetime(headers: dict[str, str]) -> float:
    """Return how many seconds a copy may be kept. Source: RFC 9111 section 4.2."""
    parts = [part.strip().lower().partition("=") for part in headers.get("cache-control", "").split(",")]
    directives = {name: value.strip('"') for name, _, value in parts}
    if "no-store" in directives or "no-cache" in directives:
        return 0.0
    if "max-age" not in directives:
        return DEFAULT_SECONDS
    age = _seconds(headers.get("age", "0"))
    return max(0.0, min(_seconds(directives["max-age"]) - age, LONGEST_SECONDS))


def _seconds(text: str) -> float:
    """Read a number of seconds; what is no number is 0."""
    return float(text) if text.isascii() and text.isdigit() else 0.0
