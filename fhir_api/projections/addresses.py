"""The REST addresses of the organizations and places that are shown as resources."""

from collections.abc import Collection
from uuid import UUID

from django.conf import settings

from core.ids import parse_uuid
from organizations.public import shown_locations, shown_organizations

from .building import rest_address


def of_organizations(tenant_id: UUID, ids: Collection[str]) -> dict[str, str]:
    """Those of the ids that are organizations of the bound tenant, with their addresses."""
    keys = _keys(ids)
    found = shown_organizations(tenant_id, keys) if keys else []
    return {str(one.id): rest_address("Organization", str(one.id)) for one in found}


def of_locations(tenant_id: UUID, ids: Collection[str]) -> dict[str, str]:
    """Those of the ids that are places of the bound tenant, with their addresses."""
    keys = _keys(ids)
    found = shown_locations(tenant_id, keys) if keys else []
    return {str(one.id): rest_address("Location", str(one.id)) for one in found}


def _keys(ids: Collection[str]) -> list[UUID]:
    """The ids that a row could have; none where nothing is projected."""
    if not settings.FHIR_PROJECTIONS:
        return []
    return [key for fhir_id in ids if (key := parse_uuid(fhir_id)) is not None and str(key) == fhir_id]
