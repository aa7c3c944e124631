"""Refusing writes to what the platform itself keeps. Source: contract, fhir.md, "Who owns what"."""

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings

from core.errors import Conflict
from core.ids import parse_uuid
from fhir_api.store import Name
from organizations.public import shown_locations, shown_organizations

from .building import rest_address


class ProjectedResource(Conflict):
    """The resource is made from the platform's own data and is changed there."""

    code = "projected_resource"
    title = "The resource is kept elsewhere."


def refuse(tenant_id: UUID, names: Iterable[tuple[Name, str]]) -> None:
    """Refuse names, each with its place in the request, that belong to an organization or a place of the bound tenant.

    :raises ProjectedResource: one does; it says where to change it.
    """
    if not settings.FHIR_PROJECTIONS:
        return
    wanted: dict[str, dict[UUID, str]] = {"Organization": {}, "Location": {}}
    for (type_name, fhir_id), place in names:
        key = parse_uuid(fhir_id) if type_name in wanted else None
        if key is not None and str(key) == fhir_id:
            wanted[type_name][key] = place
    for type_name, ask in (("Organization", shown_organizations), ("Location", shown_locations)):
        if not wanted[type_name]:
            continue
        for found in ask(tenant_id, wanted[type_name]):
            address = rest_address(type_name, str(found.id))
            raise ProjectedResource(
                f"This {type_name} is made from {address}: change it there.",
                expression=wanted[type_name][found.id],
                issue_type="business-rule",
            )
