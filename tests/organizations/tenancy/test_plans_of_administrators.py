"""Administrators of organizations provision tenants within their own plans; what is above, staff grant."""

import pytest
from django.db import transaction

from core.clock import now
from organizations.actions.entitlements import grant_plan
from organizations.models import Tenant
from organizations.plans import PLANS, is_within
from tests.factories import as_member, provision, suffix


def asked(tenant, **more):
    body = {"name": "North", "slug": f"north-{suffix()}", "kinds": ["provider"], **more}
    return as_member(tenant, ["org_admin"]).post("/v1/tenants", json=body), body["slug"]


def entitled(plan):
    tenant = provision("provider")
    with transaction.atomic():
        grant_plan(tenant=tenant, plan=plan, at=now())
    return tenant


@pytest.mark.parametrize(
    ("own", "wanted", "status"),
    [
        ("standard", "enterprise", 403), ("standard", "standard", 201), ("standard", "free", 201), ("standard", "sandbox", 201),
        ("free", "standard", 403), ("free", "free", 201), ("enterprise", "enterprise", 201),
    ],
)  # fmt: skip
def test_plan_above_the_organizations_own_is_refused(own, wanted, status):
    answer, slug = asked(entitled(own), plan=wanted)
    assert answer.status_code == status, answer.content
    made = Tenant.objects.filter(slug=slug).first()
    if status == 201:
        assert made.plan == wanted
    else:
        assert (answer.json()["code"], made) == ("plan_above_own", None)
        assert wanted not in answer.json()["allowed"]


@pytest.mark.parametrize(("own", "given"), [("standard", "standard"), ("free", "free"), ("enterprise", "standard")])
def test_body_without_a_plan_gets_none_above_the_organizations_own(own, given):
    answer, slug = asked(entitled(own))
    assert answer.status_code == 201, answer.content
    assert Tenant.objects.get(slug=slug).plan == given


def test_plan_that_does_not_exist_is_told_first():
    answer, _ = asked(entitled("free"), plan="golden")
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "unknown_plan")


def test_plans_are_ordered_by_what_they_give():
    within = {(one, other) for one in PLANS for other in PLANS if is_within(PLANS[one], PLANS[other])}
    assert {(name, name) for name in PLANS} <= within
    assert {("free", "standard"), ("standard", "enterprise"), ("sandbox", "standard")} <= within
    assert not {("standard", "free"), ("enterprise", "standard"), ("sandbox", "free"), ("standard", "sandbox")} & within
