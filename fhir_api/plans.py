"""What one write comes to, by the current version of its resource: a change, nothing, or a refusal."""

from dataclasses import dataclass

from core.errors import Busy, Gone, Unprocessable

from .access.patients import patients_of
from .access.records import Access
from .intentions import Addressed, AlreadyExists, IdTaken, StaleVersion, Write
from .patching import PatchRefused, apply_patch
from .reading import read_stored
from .resources import Json, canonical
from .store import Change, NoSuchResource, Version
from .store.models import Method


@dataclass(frozen=True, slots=True)
class Plan:
    """What one write comes to: `change` None leaves things as they are."""

    of: Addressed
    status: int
    change: Change | None = None


def plan_of(one: Addressed, before: Version | None) -> Plan:
    """Hold a write against the current version of its resource, which is locked.

    :raises core.errors.PlatformError: what is there stands against it.
    """
    if one.matched and not one.fresh and _has_changed(one, before):
        raise Busy(headers={"Retry-After": "1"})  # after the search had found it
    if one.write.method is Method.POST:
        return _create(one)
    _check_match(one.write, before)
    if one.write.method is Method.PUT:
        return _update(one, before)
    return _patch(one, before) if one.write.method is Method.PATCH else _delete(one, before)


def _has_changed(one: Addressed, before: Version | None) -> bool:
    """Tell whether what matched is gone, or is to be deleted and another version than the one that matched."""
    return before is None or before.body is None or one.version not in (0, before.version)


def _create(one: Addressed) -> Plan:
    if one.matched:
        return Plan(one, 200)
    return Plan(one, 201, _change(one, one.write.resource, None))


def _update(one: Addressed, before: Version | None) -> Plan:
    alive = before is not None and before.body is not None
    if alive and one.write.create_only:
        raise AlreadyExists(expression=one.write.place, headers=_tag(before))
    if alive and one.write.criteria and not one.matched:
        raise IdTaken(expression=one.write.place)
    if alive and _is_same(one.write.resource, before):
        return Plan(one, 200)
    return Plan(one, 200 if alive else 201, _change(one, one.write.resource, before))


def _patch(one: Addressed, before: Version | None) -> Plan:
    if before is None:
        raise NoSuchResource(expression=one.write.place)
    if before.body is None:
        raise Gone(expression=one.write.place, headers=_tag(before))
    assert one.write.patch is not None
    try:
        patched = apply_patch(one.write.patch, read_stored(before.body))
    except PatchRefused as refusal:
        refusal.extra["expression"] = within(one.write.place, refusal.extra.get("expression", ""))
        if isinstance(refusal, Unprocessable):  # it depends on what the resource holds
            whose = patients_of([(one.write.type, one.fhir_id, before.body)])
            refusal.access = Access("read", one.write.type, one.fhir_id, patients=whose, outcome=422)
        raise
    return Plan(one, 200) if _is_same(patched, before) else Plan(one, 200, _change(one, patched, before))


def _delete(one: Addressed, before: Version | None) -> Plan:
    if before is None or before.body is None:
        return Plan(one, 204)
    return Plan(one, 204, _change(one, None, before))


def _change(one: Addressed, resource: Json | None, before: Version | None) -> Change:
    return Change(one.write.method, one.write.type, one.fhir_id, resource, before)


def _check_match(write: Write, before: Version | None) -> None:
    absent = before is None or (write.must_exist and before.body is None)
    if not (write.if_match or write.must_exist) or (write.must_exist and not absent):
        return
    if absent or before is None or before.version not in write.if_match:
        stands = f"The resource stands at version {before.version}." if before else "The resource does not exist."
        raise StaleVersion(stands, expression=write.place, headers=_tag(before))


def _tag(version: Version | None) -> dict[str, str]:
    return {"ETag": version.etag} if version else {}


def _is_same(resource: Json | None, before: Version | None) -> bool:
    """Tell whether a resource has the content that is stored, whatever the order of its members."""
    assert resource is not None
    assert before is not None
    assert before.body is not None
    return canonical(resource) == canonical(read_stored(before.body))


def within(place: str, expression: str) -> str:
    """An expression of a resource as one of the Bundle it came in."""
    return f"{place}.resource{expression[len(expression.partition('.')[0]) :]}" if place else expression
