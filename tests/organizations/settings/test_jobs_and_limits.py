"""Jobs of 202 answers, and the resource that shows rate limits and quotas."""

import pytest
from django.db import IntegrityError

from core.clock import now
from core.db import tenant_context
from core.errors import InvalidTransition, NotFound
from organizations.models import Job, Tenant
from organizations.public import fail_job, report_progress, run_job, start_job, succeed_job
from tests.factories import Api, actor_of, api_key, as_member, bearer, member, provision

LIMITS = "/v1/production-onboarding/rate-limits"


@pytest.fixture(autouse=True)
def plain_limits(settings):
    """The limits as the platform has them, where the suite otherwise widens them."""
    settings.RATE_LIMIT_OVERRIDES = {"address": 1_000_000}  # whoever asked before in this minute


def started(tenant, total=None):
    actor = actor_of(tenant)
    with tenant_context(tenant.id):
        return actor, start_job(actor=actor, kind="export", at=now(), total=total)


def test_job_walks_from_queued_to_succeeded():
    tenant = provision()
    actor, job = started(tenant, 10)
    with tenant_context(tenant.id):
        run_job(actor=actor, job_id=job.id, at=now())
        report_progress(actor=actor, job_id=job.id, done=7, at=now())
        assert report_progress(actor=actor, job_id=job.id, done=3, at=now()).done == 7
        ended = succeed_job(actor=actor, job_id=job.id, result_href="/v1/files/1", at=now())
    assert (ended.state, ended.done, ended.result_href) == ("succeeded", 10, "/v1/files/1")


def test_ended_job_moves_no_more():
    tenant = provision()
    actor, job = started(tenant)
    with tenant_context(tenant.id):
        fail_job(actor=actor, job_id=job.id, code="out_of_space", message="No space is left.", at=now())
    for move in (run_job, succeed_job):
        with pytest.raises(InvalidTransition), tenant_context(tenant.id):
            move(actor=actor, job_id=job.id, at=now())
    with pytest.raises(InvalidTransition), tenant_context(tenant.id):
        report_progress(actor=actor, job_id=job.id, done=1, at=now())


def test_job_of_another_tenant_is_not_found():
    tenant, other = provision(), provision()
    _, job = started(other)
    with pytest.raises(NotFound), tenant_context(tenant.id):
        run_job(actor=actor_of(tenant), job_id=job.id, at=now())


def test_database_keeps_progress_within_the_total():
    tenant = provision()
    _, job = started(tenant, 2)
    with pytest.raises(IntegrityError), tenant_context(tenant.id):
        Job.objects.filter(tenant_id=tenant.id, id=job.id).update(done=3)


def test_job_is_shown_to_the_one_who_started_it():
    tenant = provision()
    person, _ = member(tenant, ["tenant_admin"])
    actor = actor_of(tenant)
    with tenant_context(tenant.id):
        job = Job.objects.create(
            tenant_id=tenant.id, kind="export", total=4, done=1, state="running", started_by=person.id
        )
    answer = Api(token=bearer(person), tenant=tenant).get(f"/v1/jobs/{job.id}")
    assert answer.status_code == 200
    data = answer.json()["data"]
    shown = {name: data[name] for name in ("id", "kind", "state", "progress", "result", "error")}
    assert shown == {
        "id": str(job.id), "kind": "export", "state": "running", "progress": {"done": 1, "total": 4},
        "result": None, "error": None,
    }  # fmt: skip
    assert as_member(tenant).get(f"/v1/jobs/{job.id}").status_code == 404
    assert as_member(provision()).get(f"/v1/jobs/{job.id}").status_code == 404
    assert actor.subject_id != person.id


def test_reading_the_limits_costs_nothing():
    tenant = provision()
    api = as_member(tenant)
    api.get("/v1/locations")
    answers = [api.get(LIMITS) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    data = answers[-1].json()["data"]
    assert data["tenant_id"] == str(tenant.id)
    policies = {one["name"]: one for one in data["policies"]}
    assert (policies["procurement"]["limit"], policies["procurement"]["remaining"]) == (100, 100)
    assert policies["organizations"] | {"reset_seconds": 0} == {
        "name": "organizations", "limit": 300, "window_seconds": 60, "remaining": 299, "reset_seconds": 0,
        "scope": "credential",
    }  # fmt: skip
    assert "locations" in {one["key"] for one in data["quotas"]}
    assert answers[-1].headers["RateLimit-Remaining"] == "299"


def test_limits_show_the_tenants_own_and_those_of_the_credential():
    tenant = provision("supplier")
    Tenant.objects.filter(id=tenant.id).update(rate_limits={"supplier": 5})
    data = Api(key=api_key(tenant), tenant=tenant).get(LIMITS).json()["data"]
    policies = {one["name"]: one["limit"] for one in data["policies"]}
    assert (policies["supplier"], policies["webhooks"]) == (5, 600)


def test_limits_need_a_credential():
    assert Api().get(LIMITS).status_code == 401
