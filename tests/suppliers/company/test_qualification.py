"""Who is not qualified does not trade: reservations, offers that hide, publishing, and the share of a group of buyers."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction

from core.actor import Actor, system_actor
from core.clock import now
from core.db import tenant_context
from core.errors import InvalidTransition
from organizations.models import Tenant
from suppliers.company import qualification
from suppliers.company.models import SupplierLicense, SupplierProfile
from suppliers.company.qualification import NothingToReview, QualificationIncomplete
from suppliers.company.queries import locked_profile
from suppliers.marketplace.queries import offers_call, offers_of
from tests.factories import as_member, organization, provision
from tests.races import race
from tests.suppliers import products
from tests.suppliers.company.profiles import full, license_body, patched, read, stored, told
from tests.suppliers.inventory.shelf import PATH, Shelf, body, buyer, refused, reserve, shelf

OFFERS = "/v1/marketplace/offers"


def act(tenant: Tenant, action: Callable[..., Any]) -> Any:
    """Run an action of staff on the supplier."""
    with transaction.atomic(), tenant_context(tenant.id):
        actor: Actor = system_actor(tenant.id)
        return action(actor, locked_profile(actor), now())


def verify(tenant: Tenant, number: str) -> None:
    """Verify a licence."""
    with transaction.atomic(), tenant_context(tenant.id):
        actor = system_actor(tenant.id)
        row = SupplierLicense.objects.of(actor).get(number=number)
        qualification.verify_license(actor, locked_profile(actor), row, now())


def status(tenant: Tenant) -> str:
    row = stored(tenant)
    return row.qualification_status if row else "registered"


def test_from_registered_to_qualified_and_back() -> None:
    tenant = provision("supplier", qualified=False)
    api = as_member(tenant, ["supplier_admin"])
    patched(api, **full())

    found = []
    for action in ("start_review", "qualify", "suspend", "qualify", "disqualify", "start_review", "qualify"):
        act(tenant, getattr(qualification, action))
        found.append(status(tenant))

    assert found == [
        "under_review", "qualified", "suspended", "qualified", "disqualified", "under_review", "qualified",
    ]  # fmt: skip
    assert [fact.type for fact in told(tenant)[1:]] == [
        "supplier.updated", "supplier.qualified", "supplier.suspended", "supplier.qualified", "supplier.updated",
        "supplier.updated", "supplier.qualified",
    ]  # fmt: skip
    assert (read(api)["qualification_status"], read(api)["version"]) == ("qualified", 9)


@pytest.mark.parametrize(
    ("way", "action"),
    [
        ((), "qualify"), ((), "suspend"), (("start_review",), "start_review"), (("start_review",), "suspend"),
        (("start_review", "qualify"), "start_review"), (("start_review", "qualify"), "qualify"),
        (("disqualify",), "disqualify"), (("disqualify",), "qualify"), (("disqualify",), "suspend"),
        (("start_review", "qualify", "suspend"), "suspend"), (("start_review", "qualify", "suspend"), "start_review"),
    ],
)  # fmt: skip
def test_ways_that_there_are_not(way: tuple[str, ...], action: str) -> None:
    tenant = provision("supplier", qualified=False)
    patched(as_member(tenant, ["supplier_admin"]), **full())
    for one in way:
        act(tenant, getattr(qualification, one))
    before = stored(tenant)

    with pytest.raises(InvalidTransition):
        act(tenant, getattr(qualification, action))

    after = stored(tenant)
    assert before is not None
    assert after is not None
    assert (after.qualification_status, after.version) == (before.qualification_status, before.version)


def test_database_holds_states_and_their_order() -> None:
    tenant = provision("supplier")
    with connections["platform"].cursor() as cursor:
        for wanted in ("registered", "under_review", "nonsense"):
            with pytest.raises(IntegrityError), transaction.atomic(using="platform"):
                cursor.execute(
                    "UPDATE suppliers_supplierprofile SET qualification_status = %s WHERE tenant_id = %s",
                    [wanted, tenant.id],
                )
    assert status(tenant) == "qualified"


def test_supplier_without_name_of_its_own_is_not_qualified() -> None:
    tenant = provision("supplier", qualified=False)
    act(tenant, qualification.start_review)

    with pytest.raises(QualificationIncomplete) as refusal:
        act(tenant, qualification.qualify)

    assert refusal.value.extra["missing"] == ["country", "registration"]
    assert status(tenant) == "under_review"


def test_what_staff_have_seen_is_seen_once_and_until_it_changes() -> None:
    tenant = provision("supplier", qualified=False)
    api = as_member(tenant, ["supplier_admin"])
    with pytest.raises(NothingToReview):
        act(tenant, qualification.review_bank_account)
    patched(api, **full())
    act(tenant, qualification.review_identity)
    act(tenant, qualification.review_bank_account)
    verify(tenant, "WDA-1")

    found = read(api)
    for again in (qualification.review_identity, qualification.review_bank_account):
        with pytest.raises(NothingToReview):
            act(tenant, again)
    with pytest.raises(NothingToReview):
        verify(tenant, "WDA-1")

    assert (found["bank_account"], found["licenses"][0]["verified"]) == ({"last4": "3000", "verified": True}, True)
    assert patched(api, **full())["version"] == found["version"]
    changed = patched(api, legal_name="Other", bank_account=full()["bank_account"] | {"holder": "Other"})
    assert changed["bank_account"] == {"last4": "3000", "verified": False}
    row = stored(tenant)
    assert row is not None
    assert row.identity_reviewed_at is None


@pytest.mark.parametrize("way", [(), ("start_review",), ("disqualify",)])
def test_who_is_not_qualified_takes_no_reservation(way: tuple[str, ...]) -> None:
    tenant, hospital = provision("supplier", qualified=False), buyer()
    mine = Shelf(tenant, as_member(tenant, ["supplier_admin"]))
    patched(mine.api, **full())
    product = mine.product()
    mine.stock(product, 10)
    mine.offer(product)
    for one in way:
        act(tenant, getattr(qualification, one))

    refused(hospital.api.post(PATH, json=body(mine, (product, 1))), 409, "supplier_not_qualified")

    assert mine.reservations() == []


def test_suspended_supplier_hides_and_what_is_under_way_goes_on() -> None:
    mine, hospital = shelf(), buyer()
    product = mine.product()
    mine.stock(product, 10)
    mine.offer(product)
    (made,) = reserve(hospital, mine, (product, 1))

    def seen() -> int:
        with tenant_context(mine.id):
            from core.pipeline import run

            (found,) = run([offers_call(mine.id, [product["id"]], hospital.id, now())])
            return len(offers_of(found))

    assert seen() == 1
    act(mine.tenant, qualification.suspend)
    assert seen() == 0
    refused(hospital.api.post(PATH, json=body(mine, (product, 1))), 409, "supplier_not_qualified")
    assert hospital.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 600}).status_code == 200
    assert hospital.api.delete(f"{PATH}/{made['id']}").status_code == 204
    act(mine.tenant, _requalified)
    assert seen() == 1


def _requalified(actor: Actor, profile: SupplierProfile, at: Any) -> None:
    profile.registrations = [{"scheme": "national", "value": "1"}]
    qualification.qualify(actor, profile, at)


def _draft(mine: Shelf, product: dict[str, Any]) -> str:
    given = {
        "product_id": product["id"], "packaging_id": product["packagings"][-1]["id"], "currency": "EUR",
        "tiers": [{"min_quantity": 1, "unit_price": "4.90"}],
    }  # fmt: skip
    return str(mine.api.post(OFFERS, json=given).json()["data"]["id"])


def test_offer_of_a_supplier_that_is_not_qualified_is_not_published() -> None:
    tenant = provision("supplier", qualified=False)
    mine = Shelf(tenant, as_member(tenant, ["supplier_admin"]))
    offer = _draft(mine, mine.product())

    found = refused(mine.api.post(f"{OFFERS}/{offer}/publish"), 409, "offer_incomplete")

    assert found["checks"] == ["supplier_qualified"]
    assert mine.api.get(f"{OFFERS}/{offer}").json()["data"]["status"] == "draft"


def _medicine(mine: Shelf, **changes: Any) -> dict[str, Any]:
    return products.create(mine.api, **products.full_body(controlled=None) | changes)


@pytest.mark.parametrize(
    ("license_", "verified", "passes"),
    [
        (license_body(), True, True), (license_body(type="manufacturing"), True, True), (license_body(), False, False),
        (license_body(type="gdp"), True, False), (license_body(valid_from=None, valid_to=None), True, True),
        (license_body(valid_from=str(date.today() + timedelta(days=3))), True, False),
        (license_body(valid_to=str(date.today() - timedelta(days=3))), True, False),
    ],
)  # fmt: skip
def test_medicine_needs_a_verified_licence_that_holds(license_: dict[str, Any], verified: bool, passes: bool) -> None:
    mine = shelf()
    patched(mine.api, licenses=[license_])
    offer = _draft(mine, _medicine(mine))
    if verified:
        verify(mine.tenant, "WDA-1")

    answer = mine.api.post(f"{OFFERS}/{offer}/publish")

    if passes:
        assert answer.status_code == 200, answer.content
    else:
        assert refused(answer, 409, "offer_incomplete")["checks"] == ["license_for_class"]


def test_controlled_medicine_needs_both_licences() -> None:
    mine = shelf()
    patched(mine.api, licenses=[license_body(), license_body(type="controlled", number="BtM-1")])
    offer = _draft(mine, _medicine(mine, controlled={"schedule": "II"}))
    verify(mine.tenant, "WDA-1")
    assert refused(mine.api.post(f"{OFFERS}/{offer}/publish"), 409, "offer_incomplete")["checks"] == [
        "license_for_class"
    ]

    verify(mine.tenant, "BtM-1")

    assert mine.api.post(f"{OFFERS}/{offer}/publish").status_code == 200


def test_share_of_a_group_counts_before_the_suppliers_own() -> None:
    mine, named, below, other = shelf(), buyer(), buyer(), buyer()
    top = organization()
    below.tenant.organization.parent = top
    below.tenant.organization.save(update_fields=["parent"])
    product = mine.product()
    mine.stock(product, 100)
    mine.offer(product)
    patched(
        mine.api,
        order_settings={"reservation_cap_percent": 10},
        buyer_groups=[
            {"code": "key", "buyer_ids": [str(named.id)], "reservation_cap_percent": 40},
            {"code": "small", "buyer_ids": [str(named.id)], "reservation_cap_percent": 5},
            {"code": "silent", "buyer_ids": [str(other.id)]},
            {"code": "chain", "organization_ids": [str(top.id)], "reservation_cap_percent": 20},
        ],
    )

    for one, share in ((named, 40), (below, 20), (other, 10)):
        refused(one.api.post(PATH, json=body(mine, (product, share + 1))), 409, "reservation_limit")
        reserve(one, mine, (product, share))


def test_two_reviewers_at_once_qualify_once() -> None:
    tenant = provision("supplier", qualified=False)
    patched(as_member(tenant, ["supplier_admin"]), **full())
    act(tenant, qualification.start_review)

    results = race(*[lambda: act(tenant, qualification.qualify)] * 2)

    assert sorted(type(one).__name__ for one in results) == ["InvalidTransition", "SupplierProfile"]
    assert [fact.type for fact in told(tenant)].count("supplier.qualified") == 1


def test_suppliers_from_before_are_qualified_by_the_migration() -> None:
    from importlib import import_module

    migration = import_module("suppliers.migrations.0006_company")
    tenant = provision("supplier", qualified=False)
    settled = provision("supplier", qualified=False)
    hospital = provision("provider")
    with tenant_context(settled.id):
        SupplierProfile.objects.create(tenant_id=settled.id, order_settings={"max_soft_minutes": 5})
    mine = f"n.id IN ('{tenant.id}', '{settled.id}', '{hospital.id}') AND n.status <> 'closed'"

    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE suppliers_supplierprofile DISABLE TRIGGER USER")
        cursor.execute(migration.QUALIFY.replace("n.status <> 'closed'", mine))
        cursor.execute("ALTER TABLE suppliers_supplierprofile ENABLE TRIGGER USER")

    assert (status(tenant), status(settled), status(hospital)) == ("qualified", "qualified", "registered")
    row = stored(settled)
    assert row is not None
    assert (row.order_settings, row.legal_name) == ({"max_soft_minutes": 5}, settled.name)
