"""The records of access that requests leave."""

from core.db import tenant_context
from fhir_api.access.models import AccessRecord


def log(client, since=0):
    with tenant_context(client.tenant.id):
        found = AccessRecord.objects.filter(tenant_id=client.tenant.id).order_by("created_at", "id")
        return list(found)[since:]


def noted(client, ask):
    """The records that one request left."""
    before = len(log(client))
    answer = ask()
    return answer, log(client, before)


def brief(row):
    return row.interaction, row.resource_type, row.resource_id, row.patients, row.count, row.outcome
