"""Conditional references: which resource each one means, asked in one trip for a whole Bundle. Source: R4 http.html#condref."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from urllib.parse import parse_qsl

from core.actor import Actor
from core.errors import PlatformError
from core.pipeline import Call, run
from fhir_api.access.records import Access
from fhir_api.search import matching_call, names_of, patients_named
from fhir_api.smart import access_of
from fhir_api.types import NUMBERS

from .links import Conditional
from .refusals import ConditionalReferenceFailed, UnsupportedEntry

Names = tuple[str, ...]  # relative references: none, one, or two for "several"
_AT_ONCE = 500


def resolve(conditional: Sequence[Conditional], own: "OwnIdentifiers", *, actor: Actor, at: datetime) -> None:
    """Replace all conditional references by what they mean.

    :raises ConditionalReferenceFailed: one matches nothing, or several.
    :raises core.errors.PlatformError: its criteria cannot be read.
    """
    found = asked(conditional, actor=actor, at=at)
    for one in conditional:
        replace(one, found[one.criteria], own)


def replace(one: Conditional, found: Names | PlatformError, own: "OwnIdentifiers | None" = None) -> None:
    """Replace one reference.

    :raises ConditionalReferenceFailed: nothing matches, or several do.
    """
    if isinstance(found, PlatformError):
        found.extra["expression"] = one.place
        raise found
    names = own.with_stored(one.criteria, found) if own else found
    if len(names) != 1:
        text = "Several resources match." if names else "No resource matches."
        kind = "multiple-matches" if names else "not-found"
        refusal = ConditionalReferenceFailed(text, expression=one.place, issue_type=kind)
        query = one.criteria.partition("?")[2]
        parameters = [name for name, _ in parse_qsl(query)]
        whose = patients_named(one.type, query)
        refusal.access = Access("search", one.type, parameters=parameters, patients=whose, outcome=412)
        raise refusal
    one.holder["reference"] = names[0]


def asked(conditional: Iterable[Conditional], *, actor: Actor, at: datetime) -> dict[str, Names | PlatformError]:
    """What each of the criteria (`Practitioner?identifier=…`) matches among what the actor may see, or why it cannot be asked."""
    found: dict[str, Names | PlatformError] = {}
    calls: dict[str, Call] = {}
    for text in {one.criteria for one in conditional}:
        try:
            calls[text] = _call(text, actor, at)
        except PlatformError as refusal:
            found[text] = refusal
    texts = list(calls)
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        rows = run([calls[text] for text in some])
        for text, one in zip(some, rows, strict=True):
            found[text] = tuple("/".join(name) for name in names_of(text.partition("?")[0], one))
    return found


def _call(text: str, actor: Actor, at: datetime) -> Call:
    type_name, _, query = text.partition("?")
    if type_name not in NUMBERS:
        raise UnsupportedEntry(f"{type_name} is not kept here.", issue_type="not-supported")
    return matching_call(actor.tenant_id, type_name, query, access=access_of(actor), at=at)


class OwnIdentifiers:
    """What the resources of the Bundle itself add to and take from what is stored.

    Conditional references are resolved after everything else, so they see what the transaction makes: here by
    `identifier=system|value`, the form that is used. Source: R4 http.html#trules.
    """

    def __init__(self, made: Iterable[tuple[str, dict[str, object]]], gone: Iterable[str] = ()) -> None:
        """Take the relative references and bodies of what is made, and the references of what is deleted."""
        self.gone = frozenset(gone)
        self.made: dict[str, set[str]] = {}
        for reference, resource in made:
            for system, value in _identifiers(resource):
                type_name = reference.partition("/")[0]
                for form in (f"{system}|{value}", value):
                    self.made.setdefault(f"{type_name}?identifier={form}", set()).add(reference)

    def with_stored(self, text: str, stored: Names) -> Names:
        """What is stored and stays, and what is made."""
        kept = [name for name in stored if name not in self.gone]
        return tuple(dict.fromkeys((*kept, *self.made.get(text, ()))))[:2]


def _identifiers(resource: dict[str, object]) -> Iterable[tuple[str, str]]:
    listed = resource.get("identifier")
    for one in listed if isinstance(listed, list) else ():
        value, system = (one.get("value"), one.get("system", "")) if isinstance(one, dict) else (None, "")
        if isinstance(value, str) and isinstance(system, str):
            yield system, value


__all__ = ["OwnIdentifiers", "asked", "replace", "resolve"]
