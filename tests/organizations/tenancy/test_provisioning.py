"""Setting up goes on where it stopped; two runs at once make one tenant; time ends keys and memberships."""

from datetime import timedelta

import pytest

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.errors import InvalidTransition
from ledger.public import Event
from organizations.actions import provisioning, tenants, upkeep
from organizations.actions.provisioning import FirstMember, TenantSpec, platform_actor, provision_tenant
from organizations.models import ApiKey, Location, Membership, Organization, ProvisioningStep, Quota, Tenant
from tests.factories import committed, member, new_api_key, provision, suffix
from tests.races import race


def spec(**more):
    slug = f"clinic-{suffix()}"
    return TenantSpec(**{"slug": slug, "name": "Clinic", "kinds": ("provider",), **more})


def run(wanted):
    return provision_tenant(actor=platform_actor(), spec=wanted, at=now())


def recorded(tenant, kind):
    with tenant_context(tenant.id):
        return Event.objects.filter(tenant_id=tenant.id, type=kind).count()


def test_first_run_makes_tenant_and_organization():
    wanted = spec(
        members=(
            FirstMember(f"kari-{suffix()}@example.org"),
            FirstMember(f"ola-{suffix()}@example.org", ("prescriber",)),
        )
    )

    outcome = run(wanted)

    assert outcome.created
    assert outcome.steps == [
        "configuration",
        "entitlements",
        "location",
        "roles",
        "signing_key",
        "tenant_key",
        "members",
        "activation",
    ]
    assert set(outcome.invitations) == {member.email for member in wanted.members}
    assert Organization.objects.get(slug=wanted.slug).type == "hospital"
    assert outcome.tenant.status == "active"
    assert recorded(outcome.tenant, "tenant.provisioned") == 1


def test_second_run_changes_nothing_and_shows_no_secret():
    wanted = spec(members=(FirstMember(f"kari-{suffix()}@example.org"),))
    first = run(wanted).tenant

    again = run(wanted)

    assert (again.created, again.steps, again.invitations) == (False, [], {})
    assert again.tenant.version == first.version
    assert recorded(first, "tenant.provisioned") == 1


def test_run_that_broke_goes_on_after_the_last_finished_step(monkeypatch):
    wanted = spec()

    def broken(_):
        raise RuntimeError("the machine went away")

    monkeypatch.setitem(provisioning._STEPS, "roles", broken)
    with pytest.raises(RuntimeError):
        run(wanted)
    tenant = Tenant.objects.get(slug=wanted.slug)
    assert tenant.status == "provisioning"
    assert set(tenant.provisioning_steps.values_list("name", flat=True)) == {
        "configuration",
        "entitlements",
        "location",
    }
    monkeypatch.undo()

    outcome = run(wanted)

    assert outcome.steps == ["roles", "signing_key", "tenant_key", "members", "activation"]
    assert Tenant.objects.get(slug=wanted.slug).status == "active"
    with tenant_context(tenant.id):
        assert Location.objects.filter(tenant_id=tenant.id).count() == 1


def test_two_runs_at_once_make_one_tenant():
    wanted = spec()

    outcomes = race(*(lambda: run(wanted) for _ in range(3)))

    assert sorted(outcome.created for outcome in outcomes) == [False, False, True]
    tenant = Tenant.objects.get(slug=wanted.slug)
    assert ProvisioningStep.objects.filter(tenant=tenant).count() == 8
    assert recorded(tenant, "tenant.provisioned") == 1


def test_other_kinds_under_the_same_slug_are_refused():
    wanted = spec()
    run(wanted)

    with pytest.raises(provisioning.OtherTenant):
        run(TenantSpec(slug=wanted.slug, name="Clinic", kinds=("supplier",)))

    assert Tenant.objects.get(slug=wanted.slug).kinds == ["provider"]


def test_suspension_is_refused_twice_and_recorded_once():
    tenant = provision()
    actor = system_actor(tenant.id)

    def suspend():
        row = Tenant.objects.select_for_update().get(pk=tenant.pk)
        return tenants.suspend_tenant(actor=actor, tenant=row, reason="", at=now())

    committed(suspend)
    with pytest.raises(InvalidTransition):
        committed(suspend)

    assert recorded(tenant, "tenant.suspended") == 1


def test_expired_key_gives_its_unit_back():
    tenant = provision("supplier")
    key, _ = new_api_key(tenant)
    ApiKey._base_manager.filter(pk=key.pk).update(expires_at=now() - timedelta(minutes=1))

    upkeep.expire_keys(at=now())
    upkeep.expire_keys(at=now())

    assert ApiKey.objects.get(pk=key.pk).status == "expired"
    assert Membership.objects.get(pk=key.membership_id).status == "revoked"
    with tenant_context(tenant.id):
        assert Quota.objects.get(tenant_id=tenant.id, key="api_keys").used == 0


def test_key_is_announced_once_before_it_expires():
    tenant = provision("supplier")
    new_api_key(tenant, expires_at=now() + timedelta(days=10))

    upkeep.announce_keys(at=now())
    upkeep.announce_keys(at=now())

    assert recorded(tenant, "api_key.expiring") == 1


def test_membership_whose_time_is_over_expires():
    tenant = provision()
    _, membership = member(tenant, ["nurse"], valid_until=now() + timedelta(hours=1))

    upkeep.expire_memberships(at=now() + timedelta(hours=2))

    assert Membership.objects.get(pk=membership.pk).status == "expired"
    assert recorded(tenant, "membership.expired") == 1
    with tenant_context(tenant.id):
        assert Quota.objects.get(tenant_id=tenant.id, key="users").used == 0
