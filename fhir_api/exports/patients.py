"""Whose record an export is of: everybody's, that of the patients who were named, or that of a group's members."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.arrays import array_literal
from core.clock import rfc3339
from core.errors import Gone
from core.pipeline import Call, Statement, run
from fhir_api.access.records import Access
from fhir_api.dates import period, span
from fhir_api.entries import OPEN_HIGH, OPEN_LOW
from fhir_api.reading import read_stored
from fhir_api.references import target
from fhir_api.resources import Json
from fhir_api.resources.types import NUMBERS
from fhir_api.store import NoSuchResource
from fhir_api.store.reads import current_call

from . import states
from .asking import Wish
from .refusals import InvalidExport, UnknownPatients

_SHOWN: Final = 5
_THERE: Final = Statement.of(
    f"SELECT r.fhir_id FROM fhir_api_resource r WHERE r.tenant_id = $1 AND r.type = {NUMBERS['Patient']}"
    " AND r.fhir_id = ANY($2::text[]) AND NOT r.deleted"
)


def chosen(tenant_id: UUID, wish: Wish, *, at: datetime) -> tuple[str, ...] | None:
    """The ids of the patients whose record is exported, in the bound tenant; None for everybody's.

    :raises NoSuchResource, Gone: there is no such group, or it was deleted.
    :raises InvalidExport: the group is a description, not a list of its members.
    :raises UnknownPatients: a patient who was named is not there, or is not a member of the group.
    """
    if wish.level == states.GROUP:
        members = tuple(dict.fromkeys(_members(_group(tenant_id, wish.group), at)))
        _check(wish.patients, members, f"active members of Group/{wish.group}")
        return wish.patients or members
    if not wish.patients:
        return None
    (rows,) = run([Call(_THERE, [str(tenant_id), array_literal(wish.patients)])])
    _check(wish.patients, [(rows.value(n) or b"").decode() for n in range(len(rows))], "on this server")
    return wish.patients


def _check(named: Sequence[str], there: Sequence[str], what: str) -> None:
    known = frozenset(there)
    strange = [one for one in named if one not in known]
    if not strange:
        return
    told = ", ".join(f"Patient/{one}" for one in strange[:_SHOWN])
    refusal = UnknownPatients(f"{len(strange)} of the patients are not {what}: {told}.", issue_type="not-found")
    asked = [one for one in named if one in known]
    refusal.access = Access("export", "Patient", parameters=["patient"], patients=asked, outcome=400)
    raise refusal


def _group(tenant_id: UUID, group_id: str) -> Json:
    (rows,) = run([current_call(tenant_id, "Group", group_id)])
    if not len(rows):
        raise NoSuchResource
    version, _, body = rows.row()
    if body is None:
        raise Gone(headers={"ETag": f'W/"{(version or b"").decode()}"'})
    group = read_stored(body)
    if group["actual"] is not True:
        raise InvalidExport("The group describes its members (actual is false).", issue_type="not-supported")
    return group


def _members(group: Json, at: datetime) -> Iterator[str]:
    """The patients who are members at a time: not inactive, and within their period if it is told.

    The IG leaves open who is a member; R4 says that of `inactive` and `period`. Source: R4 group.html.
    """
    moment = span(rfc3339(at))[0]
    for member in group.get("member", ()):
        low, high = period(member.get("period") or {}) or (OPEN_LOW, OPEN_HIGH)
        if member.get("inactive") is not True and low <= moment < high and (found := _patient(member["entity"])):
            yield found


def _patient(entity: dict[str, Any]) -> str:
    found = target(entity.get("reference") or "")
    return found[1] if found and found[0] == "Patient" else ""
