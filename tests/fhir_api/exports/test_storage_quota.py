"""Files of exports fill the quota of the tenant's storage, and give it back when they are gone."""

from datetime import timedelta

from django.db import transaction

from core.clock import now
from core.db import tenant_context
from fhir_api.exports import upkeep
from organizations.actions.entitlements import Terms, grant_plan
from organizations.models import Quota
from tests.fhir_api.clients import patient
from tests.fhir_api.exports.asking import begun, carry_out, jobs, kept


def used(client):
    with tenant_context(client.tenant.id):
        return Quota.objects.get(tenant_id=client.tenant.id, key="storage_bytes").used


def test_files_are_counted_until_they_are_gone(fresh):
    for _ in range(3):
        fresh.made(patient())
    status = begun(fresh, "/$export?_type=Patient")
    (output,) = carry_out(fresh, status).json()["output"]
    content = fresh.get(output["url"].partition("/fhir/R4")[2]).content
    assert used(fresh) == len(content) > 0
    assert fresh.delete(status).status_code == 202
    upkeep.sweep(at=now())
    assert (kept(fresh.tenant), used(fresh)) == ((0, 0), 0)


def test_export_that_would_not_fit_fails_and_leaves_nothing(fresh):
    with transaction.atomic():
        grant_plan(tenant=fresh.tenant, plan="enterprise", at=now(), terms=Terms(limits={"storage_bytes": 100}))
    fresh.made(patient())
    status = begun(fresh, "/$export?_type=Patient")
    assert carry_out(fresh, status).status_code >= 400
    (job,) = jobs(fresh.tenant)
    assert (job.state, job.error) == ("failed", "storage_quota_exceeded")
    upkeep.sweep(at=now() + timedelta(minutes=1))
    assert (kept(fresh.tenant), used(fresh)) == ((0, 0), 0)
