"""Conditional references: which resource each one means, asked in one trip for a whole Bundle. Source: R4 http.html#condref."""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from urllib.parse import parse_qsl

from core.actor import Actor
from core.errors import PlatformError
from core.pipeline import Call, run
from fhir_api.access.records import Access
from fhir_api.resources.types import NUMBERS
from fhir_api.search import matching_call, names_of, patients_named
from fhir_api.smart import access_of

from .links import Conditional
from .refusals import ConditionalReferenceFailed, UnsupportedEntry

# Relative references (none, one, or two for "several"), or why the criteria cannot be asked.
Found = tuple[str, ...] | PlatformError
_AT_ONCE = 500


def parted(conditional: Iterable[Conditional], written: Container[str]) -> tuple[list[Conditional], list[Conditional]]:
    """Part those that what is stored decides from those that a transaction which writes these types decides itself."""
    settled: list[Conditional] = []
    own: list[Conditional] = []
    for one in conditional:
        (own if one.type in written or _reaches_out(one) else settled).append(one)
    return settled, own


def concerned(conditional: Iterable[Conditional]) -> Container[str]:
    """The types of resources on which it depends what these mean."""
    found = list(conditional)
    return NUMBERS if any(map(_reaches_out, found)) else {one.type for one in found}


def _reaches_out(one: Conditional) -> bool:
    """Whether criteria may look at other resources than those of their type: chains, `_has`, trees."""
    return any("." in name or ":" in name for name, _ in parse_qsl(one.criteria.partition("?")[2]))


def resolve(conditional: Iterable[Conditional], found: Mapping[str, Found]) -> None:
    """Replace conditional references by what their criteria mean.

    :raises ConditionalReferenceFailed: one matches nothing, or several.
    :raises core.errors.PlatformError: its criteria cannot be read.
    """
    for one in conditional:
        one.holder["reference"] = _meant(one, found[one.criteria])


def check_still(conditional: Sequence[Conditional], *, actor: Actor, at: datetime) -> None:
    """Hold what was put in the place of conditional references against what they mean now that all is written.

    :raises ConditionalReferenceFailed: it is something else.
    """
    found = asked(conditional, actor=actor, at=at)
    for one in conditional:
        if _meant(one, found[one.criteria]) != one.holder["reference"]:
            raise _failed(one, "What matches depends on what the reference leads to.", "conflict")


def _meant(one: Conditional, found: Found) -> str:
    if isinstance(found, PlatformError):
        found.extra["expression"] = one.place
        raise found
    if len(found) != 1:
        text = "Several resources match." if found else "No resource matches."
        raise _failed(one, text, "multiple-matches" if found else "not-found")
    return found[0]


def _failed(one: Conditional, text: str, kind: str) -> ConditionalReferenceFailed:
    """The refusal, with the record of the question that it answers."""
    refusal = ConditionalReferenceFailed(text, expression=one.place, issue_type=kind)
    query = one.criteria.partition("?")[2]
    parameters, whose = [name for name, _ in parse_qsl(query)], patients_named(one.type, query)
    refusal.access = Access("search", one.type, parameters=parameters, patients=whose, outcome=412)
    return refusal


def asked(conditional: Iterable[Conditional], *, actor: Actor, at: datetime) -> dict[str, Found]:
    """What each of the criteria (`Practitioner?identifier=…`) matches among what the actor may see."""
    found: dict[str, Found] = {}
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


__all__ = ["Found", "asked", "check_still", "concerned", "parted", "resolve"]
