"""Tokens: codes, identifiers and what else is compared as a whole, turned into entries.

Each function takes the entries, the number of the search parameter and one value of the data type it is named after.
Source: R4 search.html#token.
"""

from functools import lru_cache
from typing import Any

from . import keys
from .entries import Entries

Value = dict[str, Any]


def code(entries: Entries, number: int, value: str | None, system: str = "") -> None:
    """A code; `system` is the one its binding means, and it is found with and without it."""
    if value is not None:
        entries.parameters.add(number)
        entries.postings.update(_code_keys(number, system, value))


def boolean(entries: Entries, number: int, value: bool | None) -> None:
    """A boolean as `true` or `false`."""
    if value is not None:
        entries.parameters.add(number)
        entries.postings.update(_plain_keys(number, "true" if value else "false"))


def coding(entries: Entries, number: int, value: Value) -> None:
    """A Coding."""
    entries.parameters.add(number)
    _coding(entries, number, value)


def codeable_concept(entries: Entries, number: int, value: Value) -> None:
    """A CodeableConcept: each of its codings, and its text for `:text`."""
    entries.parameters.add(number)
    for one in value.get("coding", ()):
        _coding(entries, number, one)
    text = value.get("text")
    if text is not None:
        entries.strings.add(_text(number, text))


def identifier(entries: Entries, number: int, value: Value) -> None:
    """An Identifier, also by its type (`:of-type`) and the text of that (`:text`)."""
    entries.parameters.add(number)
    found = value.get("value")
    entries.postings.update(keys.token_keys(number, value.get("system"), found))
    kind = value.get("type")
    if kind is None:
        return
    text = kind.get("text")
    if text is not None:
        entries.strings.add(_text(number, text))
    if found is not None:
        for one in kind.get("coding", ()):
            if "system" in one and "code" in one:
                entries.postings.add(keys.of_type_key(number, one["system"], one["code"], found))


def contact_point(entries: Entries, number: int, value: Value) -> None:
    """A ContactPoint by its value; it has no system in the sense of tokens."""
    entries.parameters.add(number)
    found = value.get("value")
    if found is not None:
        entries.postings.add(keys.code_key(number, found))


def extension_token(entries: Entries, number: int, value: Value) -> None:
    """An extension whose value is a code or an identifier."""
    entries.parameters.add(number)
    if "valueCodeableConcept" in value:
        codeable_concept(entries, number, value["valueCodeableConcept"])
    elif "valueCoding" in value:
        coding(entries, number, value["valueCoding"])
    elif "valueIdentifier" in value:
        identifier(entries, number, value["valueIdentifier"])
    else:
        code(entries, number, value.get("valueCode", value.get("valueString")))


def holds(entries: Entries, number: int, resource: Value, members: tuple[str, ...]) -> None:
    """Whether one of the members is there and not false; said of every resource. Source: R4 patient.html#search."""
    boolean(entries, number, any(resource.get(member, False) is not False for member in members))


def pairs(concept: Value, *, systems: bool = False) -> tuple[str, ...]:
    """The forms of all codings of a CodeableConcept as a component of a composite, with `systems` those of systems too."""
    found: tuple[str, ...] = ()
    for one in concept.get("coding", ()):
        found += keys.pair_forms(one.get("system"), one.get("code"), systems=systems)
    return found


def concept(value: str, system: str) -> Value:
    """A code whose binding means a system, as a CodeableConcept."""
    return {"coding": [{"code": value, **({"system": system} if system else {})}]}


def _coding(entries: Entries, number: int, value: Value) -> None:
    entries.postings.update(_coding_keys(number, value.get("system"), value.get("code")))
    display = value.get("display")
    if display is not None:
        entries.strings.add(_text(number, display))


# Codes and their displays come again and again, their keys are kept; identifiers do not, theirs are made each time.


@lru_cache(maxsize=16384)
def _coding_keys(number: int, system: str | None, value: str | None) -> tuple[int, ...]:
    return tuple(keys.token_keys(number, system, value))


@lru_cache(maxsize=16384)
def _text(number: int, text: str) -> tuple[int, str]:
    return keys.text_key(number), keys.normal(text)


@lru_cache(maxsize=4096)
def _code_keys(number: int, system: str, value: str) -> tuple[int, ...]:
    return (*keys.token_keys(number, system, value), *([keys.system_code_key(number, "", value)] if system else []))


@lru_cache(maxsize=1024)
def _plain_keys(number: int, value: str) -> tuple[int, ...]:
    return (keys.code_key(number, value),)
