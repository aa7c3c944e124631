"""One door for the three kinds of patches and the changes of labels, and what none of them may change."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from fhir_api.resources import Json

from .effort import Effort
from .fhirpath_patch import apply_fhirpath_patch
from .json_patch import apply_json_patch
from .merge_patch import apply_merge_patch
from .meta import MetaChange, apply_meta
from .refusals import InvalidPatch, PatchProtected

_CONDITION: Final = re.compile(r"\bwhere\s*\(", re.ASCII)


class Kind(StrEnum):
    """The kinds of patches, by their media types. A FHIRPath Patch is a Parameters resource."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    FHIRPATH = "application/fhir+json"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch: its kind and the document as read from JSON, fractions as Decimal; of labels the document is a Meta."""

    kind: Kind | MetaChange
    document: Any

    @property
    def compares(self) -> bool:
        """Whether its outcome tells if a value of the resource is the one that the patch names.

        A `test` of JSON Patch does, and a path of FHIRPath Patch with a condition (`where(use = 'official')`).
        """
        if self.kind is Kind.JSON:
            steps = self.document if isinstance(self.document, list) else ()
            return any(isinstance(step, dict) and step.get("op") == "test" for step in steps)
        return self.kind is Kind.FHIRPATH and any(map(_CONDITION.search, _texts(self.document)))


def kind_of(media_type: str) -> Kind | None:
    """The kind of patch that a media type (without parameters, lower case) announces; None for any other type."""
    return next((kind for kind in Kind if kind == media_type), None)


def apply_patch(patch: Patch, resource: Json) -> Json:
    """The patched resource; neither the patch nor the resource is changed. What comes out is still to be validated.

    :raises PatchRefused: the patch is malformed, finds no target, fails a test, costs too much, or changes what is the
        server's: `resourceType`, `id`, `meta.versionId`, `meta.lastUpdated`. Source: R4 http.html#patch.
    """
    own = Effort().copied(resource)
    if isinstance(patch.kind, MetaChange):
        patched = apply_meta(patch.kind, patch.document, own)
    elif patch.kind is Kind.JSON:
        patched = apply_json_patch(patch.document, own)
    elif patch.kind is Kind.MERGE:
        patched = apply_merge_patch(patch.document, own)
    else:
        patched = apply_fhirpath_patch(patch.document, own)
    if not isinstance(patched, dict):
        raise InvalidPatch("A patched resource is still an object.")
    _check_protected(resource, patched)
    return patched


def _texts(document: Any) -> Iterator[str]:
    """Every text in a document, however deep: paths are among them."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _check_protected(before: Json, after: Json) -> None:
    for name in ("resourceType", "id"):
        if before.get(name) != after.get(name):
            raise _protected(before, name)
    for name in ("versionId", "lastUpdated"):
        if _of_meta(before, name) != _of_meta(after, name):
            raise _protected(before, f"meta.{name}")


def _of_meta(resource: Json, name: str) -> Any:
    meta = resource.get("meta")
    return meta.get(name) if isinstance(meta, dict) else None


def _protected(resource: Json, name: str) -> PatchProtected:
    return PatchProtected(f"A patch may not change {name}.", expression=f"{resource.get('resourceType')}.{name}")
