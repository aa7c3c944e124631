"""What stands against a merge is said at once, and a refused merge leaves every row as it is."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import transaction

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.errors import NotFound
from core.ids import uuid7
from ledger.public import Event
from organizations.models import Tenant
from suppliers.agreements.models import AgreementDraft, PriceAgreement, ReceivedAgreement
from suppliers.agreements.sweeping import expire_agreements
from suppliers.company import qualification
from suppliers.company.queries import locked_profile
from suppliers.merging import survey
from suppliers.merging.parties import supplier_named
from suppliers.merging.refusals import MergeRefused
from suppliers.relationships.models import ItemAlias, ManagedRegistration, Relationship
from tests import factories
from tests.suppliers.agreements.world import BUYING
from tests.suppliers.agreements.world import PATH as AGREEMENTS
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.merging.village import Village, found, village
from tests.suppliers.orders.proof.parties import kept


@pytest.fixture
def shop(desk: Desk) -> Village:
    made = village(desk)
    made.made["order"] = made.order()
    return made


def refused(shop: Village, into: UUID | None = None) -> list[str]:
    """Try to merge; return the codes of what stands against it, as the preview says them, too. Nothing has changed."""

    def everything() -> list[Any]:
        tenants = Tenant.objects.filter(pk__in=[shop.id, shop.buyer.id, shop.real.id]).order_by("pk").values()
        return [*tenants, kept(shop.buyer), kept(shop.real)]

    before = everything()
    with pytest.raises(MergeRefused) as refusal:
        shop.merge(into)
    assert everything() == before
    codes = [one.code for one in refusal.value.errors]
    assert codes == [one.code for one in shop.survey(into).conflicts]
    return codes


def agreed(shop: Village, **more: Any) -> str:
    """Make a price agreement with the shop, which is in force at once."""
    api = factories.as_member(shop.buyer.tenant, BUYING)
    terms = {
        "title": "Curtains", "scope": "tenant", "currency": "EUR", "valid_from": "2026-01-01", "valid_to": "2026-12-31",
        "supplier_id": str(shop.id),
        "lines": [{"category": "consumables", "tiers": [{"min_quantity": 1, "discount_percent": "5"}]}],
    }  # fmt: skip
    made = found(api.post(AGREEMENTS, json=terms | more), 201)
    assert found(api.post(f"{AGREEMENTS}/{made['id']}/propose"), 200)["status"] == "active"
    return str(made["id"])


def block(shop: Village, supplier_id: UUID, **more: Any) -> None:
    path = f"/v1/suppliers/{supplier_id}/relationship"
    found(shop.buyer.api.put(path, json=more), 200)


def suspend(shop: Village) -> None:
    with transaction.atomic(), tenant_context(shop.real.id):
        actor = system_actor(shop.real.id)
        qualification.suspend(actor, locked_profile(actor), now())


def wait_for_approval(shop: Village) -> None:
    shop.desk.policies(approval_steps=[{"over_amount": "49.00", "approvals": 1}])
    order = shop.draft()
    answer = shop.desk.dock.trade.api.post(f"/v1/purchase-orders/{order['id']}/submit", json={})
    assert answer.json()["data"]["status"] == "pending_approval"


def bill_twice(shop: Village) -> None:
    own = shop.desk.arrived(10)
    shop.desk.issue(own, 10, invoice_number="R-1")
    shop.receive(shop.made["order"], 2)
    shop.bill(shop.made["order"], 1, invoice_number="R-1")
    shop.bill(shop.made["order"], 1, invoice_number="R-2")


def close(shop: Village) -> None:
    slug = Tenant.objects.get(pk=shop.id).slug
    call_command("close_tenant", tenant=slug, confirm=slug, retention_days=0)


@pytest.mark.parametrize(
    ("prepare", "codes"),
    [
        (suspend, ["supplier_not_qualified"]),
        (lambda shop: block(shop, shop.real.id, blocks=["payments"]), ["relationship_blocked"]),
        (wait_for_approval, ["order_pending_approval"]),
        (agreed, ["open_agreement"]),
        (bill_twice, ["invoice_number_taken"]),
        (lambda shop: Tenant.objects.filter(pk=shop.id).update(legal_hold=True), ["legal_hold"]),
        (lambda shop: Tenant.objects.filter(pk=shop.real.id).update(environment="sandbox"), ["environment_differs"]),
        (lambda shop: Tenant.objects.filter(pk=shop.real.id).update(status="suspended"), ["supplier_not_qualified"]),
        (lambda shop: Tenant.objects.filter(pk=shop.buyer.id).update(status="offboarding"), ["party_closed"]),
        (close, ["party_closed"]),
    ],
)
def test_what_stands_against_a_merge(shop: Village, prepare: Callable[[Village], Any], codes: list[str]) -> None:
    prepare(shop)
    assert refused(shop) == codes


def test_all_of_it_is_said_at_once(shop: Village, monkeypatch: pytest.MonkeyPatch) -> None:
    bill_twice(shop)
    agreed(shop)
    wait_for_approval(shop)
    block(shop, shop.real.id, status="blocked")
    suspend(shop)
    monkeypatch.setattr(survey, "MOST_DOCUMENTS", 1)
    assert refused(shop) == [
        "relationship_blocked", "supplier_not_qualified", "too_many_documents", "order_pending_approval",
        "open_agreement", "invoice_number_taken",
    ]  # fmt: skip
    messages = [one.message for one in shop.survey().conflicts]
    assert messages[-1].endswith("these numbers: R-1.")


def test_who_takes_nothing_over(shop: Village, desk: Desk) -> None:
    other = village(desk)
    assert refused(shop, shop.buyer.id) == ["self_trade"]
    assert refused(shop, other.id) == ["not_a_supplier"]
    assert refused(shop, shop.id) == ["not_a_supplier"]
    assert refused(shop, factories.provision("pharmacy").id) == ["not_a_supplier"]
    assert refused(shop, factories.provision("supplier", qualified=False).id) == ["supplier_not_qualified"]
    with pytest.raises(NotFound):
        supplier_named(str(uuid7()))
    assert supplier_named(f" {shop.real.tenant.slug} ") == shop.real.id


def test_a_second_merge_is_refused(shop: Village) -> None:
    shop.merge()
    other = factories.provision("supplier")
    assert refused(shop) == ["already_merged"]
    assert refused(shop, other.id) == ["already_merged"]
    assert str(shop.real.id) in shop.survey().conflicts[0].message


def test_a_buyer_s_supplier_is_merged_by_its_own_row_alone(shop: Village, desk: Desk) -> None:
    with tenant_context(shop.buyer.id):
        row = shop.row()
    stranger = factories.provision("provider")
    with tenant_context(stranger.id):
        asked = survey.survey(system_actor(stranger.id), row, shop.real.id)
    assert [one.code for one in asked.conflicts] == ["not_managed"]


def test_the_settings_of_the_relationship_go_with_the_documents(shop: Village) -> None:
    block(shop, shop.id, customer_number="K-7", blocks=["orders"])
    assert any("becomes the one" in one for one in shop.survey().notes)
    named = {"tenant_id": shop.buyer.id, "product_id": uuid7()}
    with tenant_context(shop.buyer.id):
        ItemAlias.objects.create(**named, supplier_id=shop.id, own_code="4711")

    shop.merge()

    with tenant_context(shop.buyer.id):
        (row,) = Relationship.objects.filter(tenant_id=shop.buyer.id)
        assert (row.supplier_id, row.customer_number, row.blocks) == (shop.real.id, "K-7", ["orders"])
        assert [one.supplier_id for one in ItemAlias.objects.filter(**named)] == [shop.real.id]
        facts = Event.objects.filter(tenant_id=shop.buyer.id, type="relationship.updated").order_by("occurred_at", "id")
        told = [(one.resource_id, one.data["blocks"], one.data["changed"]) for one in facts]
    assert told[-1] == (shop.real.id, ["orders"], ["blocks", "customer_number"])
    shop.sound()


def test_registrations_are_free_for_another_one(desk: Desk) -> None:
    number = {"scheme": "national", "value": "HRB 4711"}
    shop = village(desk, registrations=[number])
    shop.merge()
    with tenant_context(shop.buyer.id):
        assert not ManagedRegistration.objects.filter(tenant_id=shop.buyer.id).exists()
    village(desk, registrations=[number])


def test_settings_of_a_relationship_that_is_there_stay(shop: Village) -> None:
    block(shop, shop.id, customer_number="K-7")
    block(shop, shop.real.id, customer_number="R-7")
    named = {"tenant_id": shop.buyer.id, "product_id": uuid7()}
    with tenant_context(shop.buyer.id):
        ItemAlias.objects.create(**named, supplier_id=shop.id, own_code="4711")
    assert any("its settings stay" in one for one in shop.survey().notes)

    shop.merge()

    with tenant_context(shop.buyer.id):
        (row,) = Relationship.objects.filter(tenant_id=shop.buyer.id)
        assert (row.supplier_id, row.customer_number) == (shop.real.id, "R-7")
        assert not ItemAlias.objects.filter(**named).exists()


def test_ended_agreements_and_drafts_go_over(shop: Village) -> None:
    ended = agreed(shop)
    expire_agreements(at=datetime(2027, 1, 2, 12, tzinfo=UTC))
    api = factories.as_member(shop.buyer.tenant, BUYING)
    terms = {
        "title": "More", "scope": "tenant", "currency": "EUR", "valid_from": "2027-01-01", "valid_to": "2027-12-31",
        "supplier_id": str(shop.id),
        "lines": [{"category": "consumables", "tiers": [{"min_quantity": 1, "discount_percent": "5"}]}],
    }  # fmt: skip
    draft = found(api.post(AGREEMENTS, json=terms), 201)["id"]

    counts = shop.merge().counts

    assert (counts["ended price agreements"], counts["drafts of price agreements"]) == (1, 1)
    with tenant_context(shop.buyer.id):
        for model in (PriceAgreement, AgreementDraft):
            assert [one.supplier_tenant_id for one in model.objects.filter(tenant_id=shop.buyer.id)] == [shop.real.id]
    with tenant_context(shop.real.id):
        assert [str(one.agreement_id) for one in ReceivedAgreement.objects.filter(tenant_id=shop.real.id)] == [ended]
    assert found(api.post(f"{AGREEMENTS}/{draft}/propose"), 200)["status"] == "proposed"
    shop.sound()


def test_many_documents_take_long(shop: Village, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any("quiet hour" in one for one in shop.survey().notes)
    monkeypatch.setattr(survey, "QUICK_DOCUMENTS", 0)
    assert any("quiet hour" in one for one in shop.survey().notes)


def test_what_may_tell_that_it_is_the_wrong_supplier(desk: Desk) -> None:
    shop = village(desk, country="NO", currencies=["NOK"])
    shop.order(currency="EUR")
    shop.draft()
    notes = shop.survey().notes
    assert len(notes) == 4
    assert any("no registration in common" in one for one in notes)
    assert any("is in NO" in one for one in notes)
    assert any("currencies that the supplier does not name: EUR" in one for one in notes)
    assert any(one.startswith("Drafts of orders in words: 1.") for one in notes)
