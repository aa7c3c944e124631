"""Who belongs to an audience: tenants, organizations with what comes below them, groups; and what follows their changes."""

from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from core.clock import now
from core.db import tenant_context
from core.invariants import breaches
from ledger import public as ledger
from organizations.actions import tree
from organizations.actions.provisioning import platform_actor
from organizations.models import Organization
from suppliers.marketplace.models import Audience, AudienceMember, Offer
from tests import factories
from tests.suppliers import products
from tests.suppliers.company.profiles import patched
from tests.suppliers.inventory.shelf import PATH, Buyer, body, broken, refused, reserve
from tests.suppliers.inventory.test_offers import OFFERS, draft


@pytest.fixture
def offer(shelf):
    product = shelf.product()
    shelf.stock(product, 1_000)
    made = draft(shelf, product)
    shelf.api.post(f"{OFFERS}/{made['id']}/publish")
    return made | {"product": product}


def show(shelf, offer, **visibility):
    answer = shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json={"mode": "selected"} | visibility)
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]["visibility"]


def sees(one, shelf, offer):
    answer = one.api.post(PATH, json=body(shelf, (offer["product"], 1)))
    if answer.status_code == 201:
        return True
    refused(answer, 409, "offer_not_available")
    return False


def buyer_below(organization):
    tenant = factories.provision("provider", under=organization)
    return Buyer(tenant, factories.as_member(tenant, ["buyer"]))


def members(shelf):
    with tenant_context(shelf.id):
        return set(AudienceMember.objects.filter(tenant_id=shelf.id).values_list("member_tenant_id", flat=True))


def move(organization, parent):
    actor = factories.actor_of(factories.provision("provider"))
    with tenant_context(actor.tenant_id):
        row = Organization.objects.select_for_update().get(pk=organization.id)
        mover = replace(platform_actor(), tenant_id=actor.tenant_id)
        tree.update_organization(mover, row, {"parent_id": parent.id if parent else None}, now())


def group(shelf, code, **named):
    """Make this group the only one of the supplier's profile."""
    patched(shelf.api, buyer_groups=[{"code": code} | named])


def test_tenant_below_a_named_organization_sees_the_offer_at_once(shelf, offer, other):
    top = factories.organization("Group")
    ward = factories.organization("Hospital", parent=top)
    first = buyer_below(ward)
    assert not sees(first, shelf, offer)
    shown = show(shelf, offer, organization_ids=[str(top.id)])
    assert (shown["organization_ids"], shown["tenant_ids"], shown["group_codes"]) == ([str(top.id)], [], [])
    assert sees(first, shelf, offer)
    later = buyer_below(ward)
    assert sees(later, shelf, offer)
    assert not sees(other, shelf, offer)
    assert not broken(shelf)


def test_moved_organization_takes_its_tenants_along(shelf, offer):
    top, elsewhere = factories.organization("Group"), factories.organization("Elsewhere")
    ward = factories.organization("Hospital", parent=elsewhere)
    one = buyer_below(ward)
    show(shelf, offer, organization_ids=[str(top.id)])
    assert not sees(one, shelf, offer)
    move(ward, top)
    assert sees(one, shelf, offer)
    move(ward, elsewhere)
    assert not sees(one, shelf, offer)
    assert not broken(shelf)


def test_groups_are_followed(shelf, offer, buyer, other):
    group(shelf, "north", buyer_ids=[str(buyer.id)])
    show(shelf, offer, group_codes=["north"])
    assert (sees(buyer, shelf, offer), sees(other, shelf, offer)) == (True, False)
    place = factories.organization("Place")
    third = buyer_below(place)
    group(shelf, "north", buyer_ids=[str(other.id)], organization_ids=[str(place.id)])
    assert [sees(one, shelf, offer) for one in (buyer, other, third, buyer_below(place))] == [False, True, True, True]
    assert not broken(shelf)


def test_same_choice_is_one_audience(shelf, offer, buyer, other):
    second = draft(shelf, shelf.product())
    chosen = [str(buyer.id), str(other.id)]
    show(shelf, offer, tenant_ids=chosen)
    show(shelf, second, tenant_ids=chosen[::-1])
    with tenant_context(shelf.id):
        assert Audience.objects.filter(tenant_id=shelf.id).count() == 1
        assert len(set(Offer.objects.filter(tenant_id=shelf.id).values_list("audience_id", flat=True))) == 1
    assert members(shelf) == {buyer.id, other.id}


@pytest.mark.parametrize("mode", ["public", "private", "selected"])
def test_excluded_buyer_sees_nothing_whatever_the_mode(shelf, offer, buyer, other, mode):
    named = {"tenant_ids": [str(buyer.id), str(other.id)]} if mode == "selected" else {}
    show(shelf, offer, mode=mode, excluded_tenant_ids=[str(buyer.id)], **named)
    assert (sees(buyer, shelf, offer), sees(other, shelf, offer)) == (False, mode != "private")


@pytest.mark.parametrize(
    ("given", "field", "code"),
    [
        ({"organization_ids": ["0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"]}, "organization_ids.0", "unknown_organization"),
        ({"group_codes": ["nobody"]}, "group_codes.0", "unknown_group"),
        ({"mode": "public", "group_codes": ["nobody"]}, "group_codes", "invalid"),
        (
            {"mode": "private", "organization_ids": ["0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"]},
            "organization_ids",
            "invalid",
        ),
        ({}, "tenant_ids", "invalid"),
    ],
)
def test_bad_choice_changes_nothing(shelf, offer, given, field, code):
    answer = shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json={"mode": "selected"} | given)
    assert (field, code) in products.field_errors(answer)
    shown = shelf.api.get(f"{OFFERS}/{offer['id']}").json()["data"]
    assert (shown["visibility"]["mode"], shown["version"]) == ("private", 2)


def test_command_repairs_and_proof_names_a_wrong_member(shelf, offer, buyer, other):
    show(shelf, offer, tenant_ids=[str(buyer.id)])
    with tenant_context(shelf.id):
        audience = Audience.objects.get(tenant_id=shelf.id)
        AudienceMember.objects.filter(tenant_id=shelf.id).delete()
        AudienceMember.objects.create(tenant_id=shelf.id, audience_id=audience.id, member_tenant_id=other.id)
    (found,) = (one for one in breaches(shelf.id) if one.rule == "market")
    assert (found.table, found.what) == ("suppliers_audience", "has 1 members too many and lacks 1")
    out = StringIO()
    call_command("rebuild_visibility", "--tenant", str(shelf.id), stdout=out)
    assert "audiences: 1" in out.getvalue()
    assert members(shelf) == {buyer.id}
    assert not broken(shelf)
    with pytest.raises(CommandError, match="no tenant"):
        call_command("rebuild_visibility", "--tenant", "nobody", stdout=out)


# -- what an offer promises ------------------------------------------------------------------------------------------------


def facts(shelf, offer):
    with tenant_context(shelf.id):
        rows = ledger.Event.objects.filter(tenant_id=shelf.id, resource_id=offer["id"], type="offer.allocated")
        return [row.data["quantity"] for row in rows.order_by("id")]


def test_limit_in_a_shortage_is_kept_shown_and_told(shelf):
    product = shelf.product()
    limit = {"mode": "limit", "quantity": 20, "period_days": 30, "until": "2030-12-31"}
    made = draft(shelf, product, allocation=limit)
    assert made["allocation"] == limit
    same = {name: made[name] for name in ("product_id", "packaging_id")}
    for allocation in (limit | {"quantity": 10}, limit | {"quantity": 10}, None):
        answer = shelf.api.put(f"{OFFERS}/{made['id']}", json=same | {"allocation": allocation})
        assert answer.json()["data"]["allocation"] == allocation
    assert facts(shelf, made) == [20, 10, None]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"period_days": 91}, "period_days"),
        ({"quantity": 0}, "quantity"),
        ({"until": None}, "until"),
        ({"mode": "fair"}, "mode"),
    ],
)
def test_bad_limit(shelf, change, field):
    product = shelf.product()
    limit = {"mode": "limit", "quantity": 20, "period_days": 30, "until": "2030-12-31"} | change
    given = {"product_id": product["id"], "packaging_id": product["packagings"][0]["id"], "allocation": limit}
    found = {name for name, _ in products.field_errors(shelf.api.post(OFFERS, json=given))}
    assert found == {f"allocation.{field}"}


@pytest.mark.parametrize(
    ("quantity", "message"), [(1, "Ask for 4 packs."), (5, "Ask for 6 packs."), (9, "Ask for 8 packs.")]
)
def test_quantity_that_cannot_be_ordered_is_not_reserved(shelf, buyer, quantity, message):
    pack = products.packaging(min_order_quantity=3, order_increment=2, max_order_quantity=100)
    product = shelf.product(packagings=[pack])
    shelf.stock(product, 1_000)
    shelf.offer(product, min_order_quantity=4, max_order_quantity=8)
    found = refused(buyer.api.post(PATH, json=body(shelf, (product, quantity))), 409, "order_quantity_invalid")
    assert [(one["field"], one["message"]) for one in found["errors"]] == [("items.0.quantity", message)]
    assert not shelf.reservations()
    reserve(buyer, shelf, (product, 6))


@pytest.mark.parametrize(
    ("quantity", "message"),
    [(39, "Ask for 40 base units."), (45, "Ask for 60 base units."), (50, "Ask for 60 base units."), (81, "Ask for 80 base units.")],
)  # fmt: skip
def test_base_units_are_held_to_packs(shelf, buyer, quantity, message):
    pack = products.packaging(units_per_pack=10, min_order_quantity=3, order_increment=2)
    product = shelf.product(packagings=[pack])
    shelf.stock(product, 1_000)
    shelf.offer(product, min_order_quantity=4, max_order_quantity=8)
    line = {"product_id": product["id"], "quantity": quantity, "unit": "base"}
    found = refused(buyer.api.post(PATH, json=body(shelf, line)), 409, "order_quantity_invalid")
    assert [(one["field"], one["message"]) for one in found["errors"]] == [("items.0.quantity", message)]
    assert not shelf.reservations()
    assert reserve(buyer, shelf, line | {"quantity": 60})[0]["quantity"] == 6


def test_base_units_break_a_pack_but_are_a_pack_at_least(shelf, buyer):
    product = shelf.product(units=10)
    shelf.stock(product, 1_000)
    shelf.offer(product, max_order_quantity=3)
    line = {"product_id": product["id"], "unit": "base"}
    for quantity, message in ((9, "Ask for 10 base units."), (31, "Ask for 30 base units.")):
        found = refused(
            buyer.api.post(PATH, json=body(shelf, line | {"quantity": quantity})), 409, "order_quantity_invalid"
        )
        assert [one["message"] for one in found["errors"]] == [message]
    assert not shelf.reservations()
    for quantity, packs in ((11, None), (30, 3)):
        (made,) = reserve(buyer, shelf, line | {"quantity": quantity})
        assert (made["quantity"], made["base_quantity"]) == (packs, quantity)


def test_fixed_quantity_is_promised_once(shelf, buyer, other):
    product = shelf.product(units=10)
    shelf.stock(product, 10_000)
    shelf.offer(product, stock_policy="fixed", fixed_quantity=5)
    reserve(buyer, shelf, (product, 3))
    found = refused(other.api.post(PATH, json=body(shelf, (product, 3))), 409, "insufficient_stock")
    assert [one["message"] for one in found["errors"]] == ["Available: 2."]
    reserve(other, shelf, (product, 2))
    assert len(shelf.reservations()) == 2


def test_what_is_made_to_order_is_not_reserved(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product, stock_policy="made_to_order")
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "insufficient_stock")
    assert not shelf.reservations()


@pytest.mark.parametrize(("country", "visible"), [("NO", True), ("DE", False), (None, True)])
def test_offer_is_for_buyers_of_its_countries(shelf, buyer, country, visible):
    product = shelf.product()
    shelf.stock(product, 10)
    offer = shelf.offer(product, countries=["NO", "SE"])
    address = {"country": country} if country else {}
    Organization.objects.filter(pk=buyer.tenant.organization_id).update(address=address)
    assert sees(buyer, shelf, {"id": offer, "product": product}) is visible
