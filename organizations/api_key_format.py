"""The form of API keys: `hpk_live_` + 8 characters key id + `_` + 32 characters secret + 6 characters checksum.

Prefix and checksum let secret scanners find a leaked key. Source: contract, access "API key".
"""

import re
from dataclasses import dataclass

from core.crypto import checksum, key_ring, random_text

PURPOSE = "api-key"
PREFIX = "hpk_"
_FORM = re.compile(r"hpk_(live|test)_([0-9A-Za-z]{8})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})")


@dataclass(frozen=True, slots=True)
class PlainKey:
    """A whole key in plain text; never stored."""

    environment: str
    key_id: str
    secret: str

    @property
    def text(self) -> str:
        """The key as its holder sends it."""
        head = f"hpk_{self.environment}_{self.key_id}_{self.secret}"
        return head + checksum(head)

    @property
    def last4(self) -> str:
        """The last four characters, by which people tell keys apart."""
        return self.text[-4:]

    def digest(self) -> str:
        """The stored form of the secret: an HMAC under the server's pepper."""
        return key_ring().digest(self.secret, purpose=PURPOSE)

    def matches(self, digest: str) -> bool:
        """Compare the secret with a stored digest in constant time."""
        return key_ring().matches(self.secret, digest, purpose=PURPOSE)


def new_key(environment: str = "live") -> PlainKey:
    """Make a key with a new id and a secret of 190 bits."""
    return PlainKey(environment, random_text(8), random_text(32))


def parse(text: str) -> PlainKey | None:
    """Read a key; None if its form or its checksum is wrong."""
    found = _FORM.fullmatch(text)
    if found is None or checksum(text[:-6]) != found[4]:
        return None
    return PlainKey(found[1], found[2], found[3])
