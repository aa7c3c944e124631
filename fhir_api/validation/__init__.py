"""Whether a resource keeps the rules of FHIR R4: form by the generated schema, the rest by one walk."""

from itertools import islice
from typing import Any

from fhir_api.outcomes import Issue
from fhir_api.resources.types import NUMBERS

from . import containment, identities, shapes, texts
from .faults import STRUCTURE, Fault
from .invariants import Surroundings
from .walks import walk

_MOST = 100
_ID = b'"id":'  # in JSON without spaces an unescaped quote, so the name of a member


def validate(resource: dict[str, Any]) -> list[Issue]:
    """Find what is wrong with a resource of one of the registered types; nothing where it is valid.

    Numbers with a point are `Decimal`. References of a transaction are resolved before. The words of an issue name elements and rules,
    never values. Source: R4 validation.html.
    """
    kind = resource.get("resourceType")
    if not isinstance(kind, str) or kind not in NUMBERS:
        return [Issue(STRUCTURE, "The resourceType is none of the types of this interface.")]
    return [fault.issue(kind) for fault in _faults(kind, resource)[:_MOST]]


def _faults(kind: str, resource: dict[str, Any]) -> list[Fault]:
    """The faults of the first step that finds any: each step relies on those before it."""
    body = texts.written(resource)
    if not body:
        return [texts.unwritable(resource)]
    if found := shapes.faults(kind, resource):
        return found
    surroundings = Surroundings()
    if "contained" in resource:
        if found := list(islice(containment.shape_faults(resource), _MOST)):
            return found
        surroundings = Surroundings(containment.types(resource))
    found = list(walk(kind, resource, surroundings))
    if body.count(_ID) > 1:
        found += identities.repeated(resource)
    if "contained" in resource:
        found += containment.walk_faults(resource, surroundings)
    return found


__all__ = ["validate"]
