"""Strings, references and URIs, turned into entries.

Each function takes the entries, the number of the search parameter and one value of the data type it is named after.
Source: R4 search.html, sections on string, reference and uri.
"""

from typing import Any, Final

from . import keys, references
from .entries import Entries

Value = dict[str, Any]

_NAME: Final = (("family", "text"), ("given", "prefix", "suffix"))
_ADDRESS: Final = (("text", "city", "district", "state", "postalCode", "country"), ("line",))


def string(entries: Entries, number: int, value: str | None) -> None:
    """A string: without case and accents, and exactly."""
    if value is not None:
        entries.parameters.add(number)
        entries.strings.add((keys.string_key(number), keys.normal(value)))
        entries.postings.add(keys.exact_key(number, value))


def human_name(entries: Entries, number: int, value: Value) -> None:
    """A HumanName by each of its parts and its text. Source: R4 patient.html#search."""
    _parts(entries, number, value, *_NAME)


def address(entries: Entries, number: int, value: Value) -> None:
    """An Address by each of its parts and its text."""
    _parts(entries, number, value, *_ADDRESS)


def extension_string(entries: Entries, number: int, value: Value) -> None:
    """An extension whose value is a string, or a concept by its text and displays."""
    entries.parameters.add(number)
    string(entries, number, value.get("valueString"))
    concept = value.get("valueCodeableConcept") or {}
    for text in (concept.get("text"), *(coding.get("display") for coding in concept.get("coding", ()))):
        string(entries, number, text)


def uri(entries: Entries, number: int, value: str | None) -> None:
    """A URI; a canonical with a version also without it."""
    if value is not None:
        entries.parameters.add(number)
        entries.postings.add(keys.uri_key(number, value))
        bare, bar, _ = value.partition("|")
        if bar:
            entries.postings.add(keys.uri_key(number, bare))


def canonical(entries: Entries, number: int, value: str | None) -> None:
    """A canonical as a reference: by its address, and by type and id where this server keeps what it names."""
    if value is not None:
        uri(entries, number, value)
        if local := references.target(value.partition("|")[0]):
            entries.postings.add(keys.reference_key(number, keys.target_key(*local)))


def reference(entries: Entries, number: int, value: Value, only: str = "") -> None:
    """A Reference by what it points to and by its identifier; with `only`, if it is known to point to that type.

    What is contained in the resource is nothing one may search for.
    """
    text = value.get("reference")
    if only and only not in (value.get("type"), _type_of(entries, text or "")):
        return
    entries.parameters.add(number)
    if text is not None and text[:1] != "#":
        local = references.target(text)
        if local:
            entries.postings.add(keys.reference_key(number, keys.target_key(*local)))
        else:
            entries.postings.add(keys.uri_key(number, references.unversioned(text)))
    identifier = value.get("identifier")
    if identifier is not None:
        entries.postings.update(keys.identifier_keys(number, identifier.get("system"), identifier.get("value")))


def has_extension(value: Value, url: str) -> bool:
    """Tell whether an element has an extension."""
    return any(one.get("url") == url for one in value.get("extension", ()))


def _type_of(entries: Entries, text: str) -> str:
    return entries.contained.get(text[1:], "") if text[:1] == "#" else references.type_of(text)


def extension_reference(entries: Entries, number: int, value: Value) -> None:
    """An extension whose value is a Reference."""
    entries.parameters.add(number)
    if "valueReference" in value:
        reference(entries, number, value["valueReference"])


def _parts(entries: Entries, number: int, value: Value, single: tuple[str, ...], many: tuple[str, ...]) -> None:
    entries.parameters.add(number)
    for member in single:
        if member in value:
            string(entries, number, value[member])
    for member in many:
        for one in value.get(member, ()):
            string(entries, number, one)
