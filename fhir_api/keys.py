"""What entries are keyed by: 64-bit hashes of a search parameter and a value, and texts made comparable.

The reader of a search and the writer of a resource make the same keys; nothing else knows how. A parameter's number
(`definitions.parameters`) is part of every key, so that equal values of two parameters never meet.
"""

import unicodedata
from functools import lru_cache
from hashlib import blake2b

LONGEST = 300
_MASK = 2**64 - 1


def hashed(text: str) -> int:
    """64 bits of BLAKE2b as a signed integer (bigint)."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def key(parameter: int, form: str, *parts: str) -> int:
    """The key of a value in one form: `form` tells apart what is written alike ("code", "system|code", …)."""
    return hashed("\x1f".join((str(parameter), form, *parts)))


def token_keys(parameter: int, system: str | None, code: str | None) -> list[int]:
    """All keys under which a token is found: `code`, `system|code` or `|code`, and `system|`."""
    found = []
    if code is not None:
        found.append(code_key(parameter, code))
        found.append(system_code_key(parameter, system or "", code))
    if system:
        found.append(system_key(parameter, system))
    return found


def code_key(parameter: int, code: str) -> int:
    """The key of `code`: in whatever system."""
    return key(parameter, "code", code)


def system_code_key(parameter: int, system: str, code: str) -> int:
    """The key of `system|code`; without a system, of `|code`: one that has none."""
    return key(parameter, "token", system, code)


def system_key(parameter: int, system: str) -> int:
    """The key of `system|`: any code of it."""
    return key(parameter, "system", system)


def target_key(type_name: str, fhir_id: str) -> int:
    """The key of a resource as the target of references; `Resource.target_key`."""
    return hashed(f"{type_name}/{fhir_id}")


@lru_cache(maxsize=1024)
def constant(parameter: int) -> int:
    """What turns a target's key into the key of references to it: `target_key ^ constant`, in SQL `#`."""
    return key(parameter, "reference")


def reference_key(parameter: int, target: int) -> int:
    """The key under which a reference of this parameter to a target is found."""
    return _signed((target ^ constant(parameter)) & _MASK)


def uri_key(parameter: int, uri: str) -> int:
    """The key of a URI, compared exactly; also of a reference to a server that is not this one."""
    return key(parameter, "uri", uri)


def exact_key(parameter: int, text: str) -> int:
    """The key of a string for `:exact`."""
    return key(parameter, "exact", text)


def normal(text: str) -> str:
    """A text without case and accents, its white space single, cut at what the index holds. Source: R4 search.html#string."""
    plain = text if text.isascii() else _without_accents(text)
    return " ".join(plain.casefold().split())[:LONGEST]


def _without_accents(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text)
    return "".join(character for character in apart if not unicodedata.combining(character))


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value
