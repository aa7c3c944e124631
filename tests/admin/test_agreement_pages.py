"""Pages of price agreements: versions with differences, who accepted, lines beside the copy, and the state buttons."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import transaction

from core.actor import system_actor
from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from organizations.models import Tenant
from suppliers.agreements.caps import Taken, consume
from suppliers.agreements.models import AgreementDraft, PriceAgreement, PriceAgreementLine, ReceivedAgreementLine
from tests.admin.people import REASON, act_in, signed_in
from tests.suppliers.agreements.world import PATH, World, events, more_products
from tests.suppliers.agreements.world import world as fresh
from tests.suppliers.notifications.test_messages import a_file

AGREEMENTS, COPIES = "/admin/suppliers/priceagreement/", "/admin/suppliers/receivedagreement/"
DRAFTS = "/admin/suppliers/agreementdraft/"


@pytest.fixture
def world() -> World:
    """Return a fresh supplier and a fresh hospital."""
    return fresh()


def at(tenant: Tenant, role: str = "supply") -> Any:
    """Return a member of staff who acts in a tenant."""
    browser = signed_in(role)
    act_in(browser, tenant)
    return browser


def version(world: World, key: str, revision: int = 1) -> PriceAgreement:
    """Return a version as the buyer's row."""
    with tenant_context(world.hospital.id):
        mine = PriceAgreement.objects.filter(tenant_id=world.hospital.id)
        found: PriceAgreement = mine.get(agreement_id=key, revision=revision)
        return found


def page(browser: Any, address: str) -> str:
    """Return a page as text."""
    answer = browser.get(address)
    assert answer.status_code == 200, answer.content[-2000:]
    return str(answer.content.decode())


def staff_facts(tenant: Tenant) -> list[str]:
    """Return what staff did in a tenant."""
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id, type__startswith="staff_action.")
        return [one.data["action"] for one in found.order_by("occurred_at", "id")]


def sound(world: World) -> bool:
    """Tell whether every rule holds in both tenants."""
    return not [one for tenant in (world.supplier, world.hospital) for one in breaches(tenant.id)]


def test_versions_differences_decisions_and_consumption_are_shown(world: World) -> None:
    (other,) = more_products(world.seller, 1)
    key = world.active(lines=[world.line(max_quantity=500)])
    (line,) = _lines(world, key)
    with tenant_context(world.hospital.id), transaction.atomic():
        consume(system_actor(world.hospital.id), [Taken(world.hospital.id, world.supplier.id, line.id, 123)])
    changed = world.line(max_quantity=600, tiers=[{"min_quantity": 1, "unit_price": "3.90"}])
    added = world.line(product_id=other["id"], packaging_id=other["packagings"][0]["id"])
    assert (
        world.buyer.patch(f"{PATH}/{key}", json={"title": "Gloves <2>", "lines": [changed, added]}).status_code == 200
    )
    assert world.act("buyer", key, "propose").status_code == 200
    assert world.act("supplier", key, "accept").status_code == 200

    browser = at(world.hospital)
    listed = page(browser, f"{AGREEMENTS}?q=PA-000001")
    shown = page(browser, f"{AGREEMENTS}{version(world, key, 2).pk}/change/")

    assert "PA-000001/2" in listed
    assert "PA-000001/1" in listed
    assert "superseded" in shown
    assert str(version(world, key).pk) in shown
    for said in (
        "From version 1 to version 2",
        "Gloves &lt;2&gt;",
        "from 1: 3.90",
        str(other["id"]),
    ):
        assert said in shown
    assert "123" in shown
    assert "600" in shown
    assert "<strong>no</strong>" not in shown
    first = page(browser, f"{AGREEMENTS}{version(world, key).pk}/change/")
    assert "This is the first version." in first


def _lines(world: World, key: str) -> list[PriceAgreementLine]:
    with tenant_context(world.hospital.id):
        mine = PriceAgreementLine.objects.filter(tenant_id=world.hospital.id, agreement_id=version(world, key).pk)
        return list(mine.order_by("line_no"))


def test_who_accepted_is_named_in_the_own_tenant_alone(world: World) -> None:
    key = world.active("supplier")
    row = version(world, key)
    with tenant_context(world.hospital.id):
        accepted = Event.objects.get(tenant_id=world.hospital.id, type="price_agreement.activated")
    buyers = page(at(world.hospital), f"{AGREEMENTS}{row.pk}/change/")
    sellers = page(at(world.supplier), f"{COPIES}{row.pk}/change/")

    person = accepted.subject_id
    assert f"/admin/organizations/user/{person}/change/" not in sellers
    assert str(person) not in sellers
    support = page(at(world.hospital, "support"), f"{AGREEMENTS}{row.pk}/change/")
    assert f"/admin/organizations/user/{person}/change/" in support
    assert "signed in" in buyers
    assert "API key" in sellers


def test_a_copy_that_differs_stands_out(world: World) -> None:
    key = world.active()
    (line,) = _lines(world, key)
    with tenant_context(world.supplier.id):
        ReceivedAgreementLine.objects.filter(tenant_id=world.supplier.id, pk=line.pk).update(consumed=7)

    shown = page(at(world.hospital), f"{AGREEMENTS}{version(world, key).pk}/change/")

    assert "<strong>no</strong>" in shown


def test_copies_and_drafts_are_shown_to_their_tenant(world: World) -> None:
    key, mine = world.active(scope="organization"), world.drafted("buyer", title="Secret plan", currency="USD")
    supplier, hospital = at(world.supplier), at(world.hospital)

    copy = page(supplier, f"{COPIES}{version(world, key).pk}/change/")
    assert "At its owner" in copy
    assert str(world.hospital.id) in copy
    assert "from 1: 4.10" in copy
    assert "PA-000001/1" in page(supplier, COPIES)
    assert "PA-000001" not in page(supplier, AGREEMENTS)
    assert "Secret plan" in page(hospital, DRAFTS)
    assert "Secret plan" not in page(supplier, DRAFTS)
    with tenant_context(world.hospital.id):
        row = AgreementDraft.objects.get(tenant_id=world.hospital.id, agreement_id=mine)
    assert "Secret plan" in page(hospital, f"{DRAFTS}{row.pk}/change/")
    assert supplier.get(f"{DRAFTS}{row.pk}/change/").status_code in (302, 404)
    assert supplier.get(f"{AGREEMENTS}{version(world, key).pk}/change/").status_code in (302, 404)


def test_staff_suspend_resume_and_give_notice(world: World) -> None:
    key = world.active()
    row = version(world, key)
    browser, address = at(world.hospital), f"{AGREEMENTS}{row.pk}/"
    day = date.today() + timedelta(days=40)

    assert "do/resume/" not in page(browser, f"{address}change/")
    for name, more, status in (
        ("suspend", {}, "suspended"),
        ("resume", {}, "active"),
        ("terminate", {"notice_date": str(day)}, "active"),
    ):
        assert f"do/{name}/" in page(browser, f"{address}change/")
        answer = browser.post(f"{address}do/{name}/", {"reason": REASON, **more})
        assert answer.status_code == 302, answer.content[-2000:]
        assert version(world, key).status == status

    assert world.seller.get(f"{PATH}/{key}").json()["data"]["terminates_on"] == str(day)
    kinds = [f"price_agreement.{kind}" for kind in ("suspended", "resumed", "terminated")]
    for tenant in (world.hospital, world.supplier):
        assert events(tenant)[-3:] == kinds
        with tenant_context(tenant.id):
            told = Event.objects.filter(tenant_id=tenant.id, type__in=kinds)
            assert {one.data["by"] for one in told} == {"system"}
    assert staff_facts(world.hospital) == [f"priceagreement.{name}" for name in ("suspend", "resume", "terminate")]
    assert staff_facts(world.supplier) == []
    assert sound(world)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"reason": ""}, "This field is required."),
        ({"notice_date": ""}, "This field is required."),
        ({"notice_date": "soon"}, "Enter a valid date."),
        ({"notice_date": "2020-01-01"}, "the date at the supplier."),
        ({"notice_date": "2040-01-01"}, "The agreement ends on 2030-01-01 anyway."),
    ],
)
def test_a_bad_form_changes_nothing(world: World, form: dict[str, str], said: str) -> None:
    key = world.active()
    before = world.stored()
    body = {"reason": REASON, "notice_date": str(date.today())} | form

    answer = at(world.hospital).post(f"{AGREEMENTS}{version(world, key).pk}/do/terminate/", body)

    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert world.stored() == before


@pytest.mark.parametrize("role", ["support", "finance", "security"])
def test_other_staff_change_nothing(world: World, role: str) -> None:
    key = world.active()
    before = world.stored()
    browser = at(world.hospital, role)

    for name in ("suspend", "terminate"):
        form = {"reason": REASON, "notice_date": str(date.today())}
        assert browser.post(f"{AGREEMENTS}{version(world, key).pk}/do/{name}/", form).status_code in (403, 404)

    assert world.stored() == before


def test_what_has_ended_has_no_buttons_and_refuses_them(world: World) -> None:
    key = world.active()
    body = {"notice_date": str(date.today()), "reason": "x"}
    assert world.act("buyer", key, "terminate", json=body).status_code == 200
    before = world.stored()
    browser, address = at(world.hospital), f"{AGREEMENTS}{version(world, key).pk}/"

    assert "/do/" not in page(browser, f"{address}change/")
    answer = browser.post(f"{address}do/suspend/", {"reason": REASON})

    assert answer.status_code == 200
    assert "does not allow" in answer.content.decode()
    assert world.stored() == before


def test_files_are_named_on_the_page_and_among_the_differences(world: World) -> None:
    first, second = (a_file(world.supplier, name=f"{name}.pdf") for name in ("terms", "annex"))
    key = world.active("supplier", file_ids=[first])
    drafted = world.seller.patch(f"{PATH}/{key}", json={"file_ids": [first, second]}).json()["data"]
    shown = page(at(world.supplier), f"{DRAFTS}{draft_id(world)}/change/")
    assert "terms.pdf, annex.pdf" in shown
    assert world.act("supplier", drafted["id"], "propose").status_code == 200
    assert world.act("buyer", drafted["id"], "accept").status_code == 200
    shown = page(at(world.hospital), f"{AGREEMENTS}{version(world, key, 2).pk}/change/")
    assert shown.count("terms.pdf, annex.pdf") == 2  # the term, and what it came to be
    assert shown.count("terms.pdf") == 3


def draft_id(world: World) -> Any:
    """Return the id of the supplier's only draft."""
    with tenant_context(world.supplier.id):
        return AgreementDraft.objects.get(tenant_id=world.supplier.id).pk
