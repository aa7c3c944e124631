"""What staff hold is off the market, and stays so until they lift the hold: products, offers, and what could stand for them."""

import pytest
from django.db import IntegrityError, connections

from core import clock
from core.db import tenant_context
from ledger.models import Event
from suppliers.marketplace.models import Offer
from tests import factories
from tests.admin.people import REASON, act_in, signed_in
from tests.suppliers import products
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import broken, refused

PRODUCTS, OFFERS = "/v1/products", "/v1/marketplace/offers"
ADMIN = {"product": "/admin/suppliers/product/", "offer": "/admin/suppliers/offer/"}


@pytest.fixture
def shop():
    """A supplier with a product in stock that is offered to everybody: supplier, product, offer."""
    made = shelves.shelf()
    product = made.product()
    made.stock(product, 10)
    return made, product, str(made.offer(product, tiers=[{"min_quantity": 1, "unit_price": "1"}], currency="EUR"))


def office(shelf, role="supply"):
    browser = signed_in(role)
    act_in(browser, shelf.tenant)
    return browser


def press(shelf, kind, key, name, reason=REASON):
    answer = office(shelf).post(f"{ADMIN[kind]}{key}/do/{name}/", {"reason": reason})
    return answer.status_code


def read(shelf, path):
    answer = shelf.api.get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def facts(shelf):
    with tenant_context(shelf.id):
        found = Event.objects.filter(tenant_id=shelf.id).exclude(type__startswith="staff_access").order_by("id")
        return [row.data.get("reason", row.type) for row in found]


def put(shelf, product, **changes):
    now = read(shelf, f"{PRODUCTS}/{product['id']}")
    sent = products.body(
        supplier_sku=now["supplier_sku"],
        packagings=[{name: one[name] for name in ("id", "level", "units_per_pack", "gtin", "orderable")} for one in now["packagings"]],
    )  # fmt: skip
    return shelf.api.put(f"{PRODUCTS}/{product['id']}", json=sent | changes)


def test_a_held_product_cannot_be_sold_until_the_hold_is_lifted(shop):
    shelf, product, offer = shop
    path = f"{PRODUCTS}/{product['id']}"
    assert read(shelf, path)["hold"] is None

    assert press(shelf, "product", product["id"], "hold") == 302

    held = read(shelf, path)
    assert (held["status"], held["hold"]["reason"], held["version"]) == ("discontinued", REASON, 2)
    assert held["hold"]["since"] == held["updated_at"]
    assert facts(shelf)[-3:] == ["product.updated", "product.discontinued", REASON]
    buyer = shelves.buyer()
    refused(buyer.api.post(shelves.PATH, json=shelves.body(shelf, (product, 1))), 409, "offer_not_available")
    before = facts(shelf)
    answer = put(shelf, product, status="active")
    refused(answer, 409, "moderation_hold")
    assert answer.json()["reason"] == REASON
    bulk = shelf.api.post(
        f"{PRODUCTS}/bulk",
        json={"items": [{"supplier_sku": held["supplier_sku"], "status": "active"}], "mode": "merge"},
    )
    assert bulk.json()["data"]["results"][0]["error"]["code"] == "moderation_hold"
    assert shelf.api.post(f"{OFFERS}/{offer}/unpublish").status_code == 200
    refused(shelf.api.delete(path), 409, "product_in_use")  # of its stock
    again = shelf.api.post(f"{OFFERS}/{offer}/publish")
    refused(again, 409, "offer_incomplete")
    assert set(again.json()["checks"]) == {"product_active", "not_held"}
    assert (read(shelf, path), facts(shelf)) == (held, [*before, "offer.unpublished"])
    assert put(shelf, product, name="Without the claim").status_code == 200  # what is wrong may be put right
    assert broken(shelf) == []

    assert press(shelf, "product", product["id"], "lift-hold") == 302

    assert (read(shelf, path)["status"], read(shelf, path)["hold"]) == ("discontinued", None)
    assert facts(shelf)[-2:] == ["product.updated", REASON]
    assert put(shelf, product, status="active").status_code == 200
    assert shelf.api.post(f"{OFFERS}/{offer}/publish").status_code == 200
    assert buyer.api.post(shelves.PATH, json=shelves.body(shelf, (product, 1))).status_code == 201
    assert broken(shelf, buyer) == []


def test_a_held_draft_is_neither_activated_nor_archived(shop):
    shelf, _, _ = shop
    draft = products.create(shelf.api, packagings=[products.packaging()])
    assert press(shelf, "product", draft["id"], "hold") == 302
    assert facts(shelf)[-2:] == ["product.updated", REASON]
    refused(put(shelf, draft, status="active"), 409, "moderation_hold")
    refused(shelf.api.delete(f"{PRODUCTS}/{draft['id']}"), 409, "moderation_hold")
    assert read(shelf, f"{PRODUCTS}/{draft['id']}")["status"] == "draft"
    assert press(shelf, "product", draft["id"], "hold") == 200  # held already
    assert press(shelf, "product", draft["id"], "lift-hold") == 302
    assert press(shelf, "product", draft["id"], "lift-hold") == 200
    assert shelf.api.delete(f"{PRODUCTS}/{draft['id']}").status_code == 204
    assert press(shelf, "product", draft["id"], "hold") == 200  # archived


def test_a_held_offer_cannot_be_published_nor_replaced_by_another(shop):
    shelf, product, offer = shop
    path = f"{OFFERS}/{offer}"
    assert press(shelf, "offer", offer, "hold") == 302

    held = read(shelf, path)
    assert (held["status"], held["hold"]["reason"]) == ("paused", REASON)
    assert facts(shelf)[-2:] == ["offer.unpublished", REASON]
    assert {one["name"] for one in held["checks"] if not one["passed"]} == {"not_held"}
    answer = shelf.api.post(f"{path}/publish")
    refused(answer, 409, "offer_incomplete")
    assert answer.json()["checks"] == ["not_held"]
    body = {
        "product_id": product["id"],
        "packaging_id": held["packaging_id"],
        "tiers": held["tiers"],
        "currency": "EUR",
    }
    refused(shelf.api.put(path, json=body | {"status": "archived"}), 409, "moderation_hold")
    other = shelf.api.post(OFFERS, json=body).json()["data"]["id"]
    refused(shelf.api.post(f"{OFFERS}/{other}/publish"), 409, "offer_incomplete")
    assert read(shelf, path)["status"] == "paused"
    buyer = shelves.buyer()
    refused(buyer.api.post(shelves.PATH, json=shelves.body(shelf, (product, 1))), 409, "offer_not_available")

    assert press(shelf, "offer", offer, "lift-hold") == 302
    assert read(shelf, path)["status"] == "paused"
    assert shelf.api.post(f"{path}/publish").status_code == 200
    assert press(shelf, "offer", offer, "lift-hold") == 200
    assert broken(shelf) == []


@pytest.mark.parametrize("change", ["product SET status = 'active'", "offer SET status = 'published'"])
def test_the_database_keeps_what_is_held_off_the_market(shop, change):
    shelf, product, offer = shop
    assert press(shelf, "product", product["id"], "hold") == press(shelf, "offer", offer, "hold") == 302
    with pytest.raises(IntegrityError, match="held_off_market"), connections["owner"].cursor() as cursor:
        cursor.execute(f"UPDATE suppliers_{change} WHERE tenant_id = %s", [shelf.id])


@pytest.mark.parametrize("role", ["support", "finance", "security"])
def test_other_staff_hold_nothing(shop, role):
    shelf, product, offer = shop
    browser = office(shelf, role)
    for path in (f"{ADMIN['product']}{product['id']}", f"{ADMIN['offer']}{offer}"):
        assert browser.post(f"{path}/do/hold/", {"reason": REASON}).status_code == 403
    with tenant_context(shelf.id):
        assert Offer.objects.get(tenant_id=shelf.id).held_at is None


@pytest.mark.parametrize("kind", ["product", "offer"])
def test_staff_find_what_is_held(shop, kind):
    shelf, product, offer = shop
    more = shelf.product()
    free, held = (more["id"], product["id"]) if kind == "product" else (str(shelf.offer(more)), offer)
    assert press(shelf, kind, held, "hold") == 302
    browser = office(shelf, "support")
    for chosen, wanted in (("held", {held}), ("free", {free}), ("lost", set())):
        shown = browser.get(f"{ADMIN[kind]}?hold={chosen}").content.decode()
        assert {one for one in (held, free) if f"{one}/change/" in shown} == wanted, chosen


def test_a_hold_of_staff_beside_a_publication(shop):
    """Whoever comes second finds what the first did; nothing held is ever published."""
    from django.db import transaction

    from core.errors import PlatformError
    from suppliers.marketplace.actions import locked_offer, publish_offer, unpublish_offer
    from suppliers.marketplace.holds import hold_offer
    from tests.races import race

    shelf, _, offer = shop
    actor = factories.actor_of(shelf.tenant, ["supplier_admin"])

    def act(work, *more):
        with tenant_context(shelf.id), transaction.atomic():
            return work(actor, locked_offer(actor, offer), *more, clock.now())

    act(unpublish_offer)
    answers = race(
        *[lambda: act(publish_offer)] * 4, lambda: act(hold_offer, REASON), *[lambda: act(publish_offer)] * 3
    )
    assert all(isinstance(one, Offer | PlatformError) for one in answers), answers
    with tenant_context(shelf.id):
        row = Offer.objects.get(tenant_id=shelf.id, id=offer)
    assert (row.status, row.hold_reason) == ("paused", REASON)
    assert broken(shelf) == []
