"""What entries are keyed by: 64-bit hashes of a search parameter and a value, and texts made comparable.

The reader of a search and the writer of a resource make the same keys; nothing else knows how. A parameter's number
(`definitions.parameters`) is part of every key, so that equal values of two parameters never meet.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from core.text_folding import without_accents

LONGEST = 300
_MASK = 2**64 - 1
# Another one whenever `comparable` changes: what texts were found by before stays in the index, not to be asked for again.
_TEXTS: Final = "2"
# Letters that Unicode does not take apart; of the capitals, case folding leaves these.
_LETTERS: Final = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "ŋ": "n", "æ": "ae", "œ": "oe", "þ": "th"}
)


def hashed(text: str) -> int:
    """64 bits of BLAKE2b as a signed integer (bigint)."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def key(parameter: int, form: str, *parts: str) -> int:
    """The key of a value in one form: `form` tells apart what is written alike ("code", "system|code", …)."""
    return hashed("\x1f".join((str(parameter), form, *parts)))


# Forms: a token or a unit written as text, to be a part of keys, alone or beside another in a composite.


def code_form(code: str) -> str:
    """The form of `code`: in whatever system."""
    return f"code\x1f{code}"


def system_code_form(system: str, code: str) -> str:
    """The form of `system|code`; without a system, of `|code`: one that has none."""
    return f"token\x1f{system}\x1f{code}"


def system_form(system: str) -> str:
    """The form of `system|`: any code of it."""
    return f"system\x1f{system}"


@lru_cache(maxsize=4096)
def pair_forms(system: str | None, code: str | None, *, systems: bool = False) -> tuple[str, ...]:
    """The forms a token has as a component of a composite: `code`, `system|code` or `|code`, and with `systems` `system|`.

    The last is needed where an element repeats only; of what is single, the parameters of both sides find it.
    """
    if code is None:
        return ()
    found = code_form(code), system_code_form(system or "", code)
    return (*found, system_form(system)) if systems and system else found


def target_form(type_name: str, fhir_id: str) -> str:
    """The form of a reference as the second component of a composite."""
    return f"target\x1f{type_name}/{fhir_id}"


ANY_UNIT: Final = "any"


def unit_form(unit: str) -> str:
    """The form of `number||unit`: the unit's code or its name for people. Source: R4 search.html#quantity."""
    return f"unit\x1f{unit}"


def system_unit_form(system: str, code: str) -> str:
    """The form of `number|system|code`."""
    return f"coded\x1f{system}\x1f{code}"


@lru_cache(maxsize=1024)
def unit_forms(system: str | None, code: str | None, unit: str | None) -> tuple[str, ...]:
    """All forms of a quantity's unit: left out, by code or name, by system and code."""
    named = tuple(unit_form(name) for name in dict.fromkeys((code, unit)) if name is not None)
    coded = (system_unit_form(system or "", code),) if code is not None else ()
    return (ANY_UNIT, *named, *coded)


# Keys of postings.


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
    """The key of `code`: in whatever system. All there is of booleans and contact points."""
    return key(parameter, code_form(code))


def system_code_key(parameter: int, system: str, code: str) -> int:
    """The key of `system|code`; without a system, of `|code`: one that has none."""
    return key(parameter, system_code_form(system, code))


def system_key(parameter: int, system: str) -> int:
    """The key of `system|`: any code of it."""
    return key(parameter, system_form(system))


def of_type_key(parameter: int, system: str, code: str, value: str) -> int:
    """The key of an identifier with `:of-type`: system and code of its type, and its value; all three are needed."""
    return key(parameter, "of-type", system, code, value)


def identifier_keys(parameter: int, system: str | None, value: str | None) -> list[int]:
    """All keys under which a reference is found by its identifier."""
    found = []
    if value is not None:
        found.append(identifier_key(parameter, code_form(value)))
        found.append(identifier_key(parameter, system_code_form(system or "", value)))
    if system:
        found.append(identifier_key(parameter, system_form(system)))
    return found


def identifier_key(parameter: int, form: str) -> int:
    """The key of a reference's `:identifier`; `form` as of tokens: `code_form`, `system_code_form`, `system_form`."""
    return key(parameter, "identifier", form)


@lru_cache(maxsize=16384)
def composite_key(parameter: int, first: str, second: str) -> int:
    """The key of a composite of two tokens, each in one of `pair_forms`."""
    return key(parameter, "composite", first, second)


@lru_cache(maxsize=4096)
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


def patients_code_key(patient: int, code: int) -> int:
    """The key of what has a code and is of a patient: his `target_key`, and the `system_code_key` of the code."""
    return _signed((patient ^ code) & _MASK)


@lru_cache(maxsize=4096)
def uri_key(parameter: int, uri: str) -> int:
    """The key of a URI, compared exactly; also of a reference to a server that is not this one."""
    return key(parameter, "uri", uri)


def exact_key(parameter: int, text: str) -> int:
    """The key of a string for `:exact`."""
    return key(parameter, "exact", text)


# Keys of dates, strings and quantities; `first` is the form of the token before the "$" of a composite.


@lru_cache(maxsize=16384)
def date_key(parameter: int, first: str = "") -> int:
    """The key of a parameter's spans of time (`dates.span`)."""
    return key(parameter, "date", first)


@lru_cache(maxsize=16384)
def string_key(parameter: int, first: str = "") -> int:
    """The key of a parameter's strings (`normal`)."""
    return key(parameter, "string", first, _TEXTS)


@lru_cache(maxsize=1024)
def text_key(parameter: int) -> int:
    """The key of the strings (`normal`) by which `:text` finds a token."""
    return key(parameter, "text", _TEXTS)


@lru_cache(maxsize=16384)
def quantity_key(parameter: int, unit: str, first: str = "") -> int:
    """The key of a parameter's numbers; `unit` is `ANY_UNIT`, `unit_form` or `system_unit_form`."""
    return key(parameter, "quantity", unit, first)


@lru_cache(maxsize=4096)
def quantity_keys(
    parameter: int, system: str | None, code: str | None, unit: str | None, firsts: tuple[str, ...] = ("",)
) -> tuple[int, ...]:
    """All keys under which a quantity is found, beside each of the tokens' forms where it is a part of composites."""
    return tuple(quantity_key(parameter, form, first) for first in firsts for form in unit_forms(system, code, unit))


def normal(text: str) -> str:
    """A text made `comparable`, cut at what the index holds of it."""
    return comparable(text)[:LONGEST]


def comparable(text: str) -> str:
    """A text without case and accents, its white space single. Source: R4 search.html#string."""
    folded = (text if text.isascii() else without_accents(text)).casefold()
    return " ".join((folded if folded.isascii() else folded.translate(_LETTERS)).split())


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value
