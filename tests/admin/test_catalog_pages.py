"""The catalog in the admin: moderation of products and offers, taxonomies of categories, GTINs of several suppliers, searches."""

import secrets
from typing import Any
from uuid import UUID

import pytest
from stdnum import ean

from core.db import tenant_context
from ledger.models import Event
from organizations.models import Tenant
from suppliers.catalog.models import PlatformCategory, Product, ProductCounter
from suppliers.catalog.taxonomy import seed_taxonomy
from suppliers.marketplace.models import Offer
from tests import factories
from tests.admin.people import REASON, act_in, signed_in
from tests.suppliers import products
from tests.suppliers.inventory.shelf import Shelf, buyer, refused, shelf
from tests.suppliers.inventory.shelf import body as reservation

PRODUCTS, OFFERS, DUPLICATES = (
    "/admin/suppliers/product/", "/admin/suppliers/offer/", "/admin/suppliers/platformcategory/duplicates/",
)  # fmt: skip


def office(tenant: Tenant, role: str = "supply") -> Any:
    browser = signed_in(role)
    act_in(browser, tenant)
    return browser


def facts(tenant: Tenant) -> list[str]:
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id).exclude(type__startswith="staff_access").order_by("id")
        return [row.data.get("reason", row.type) for row in found]


@pytest.fixture
def stocked() -> tuple[Shelf, dict[str, Any], UUID]:
    """A supplier with a product in stock that is offered to everybody."""
    made = shelf()
    product = made.product()
    made.stock(product, 10)
    return made, product, made.offer(product)


def test_staff_discontinue_a_product(stocked: tuple[Shelf, dict[str, Any], UUID]) -> None:
    made, product, _ = stocked
    browser, page = office(made.tenant), f"{PRODUCTS}{product['id']}/"

    assert "do/discontinue/" in browser.get(f"{page}change/").content.decode()
    assert browser.post(f"{page}do/discontinue/", {"reason": ""}).status_code == 200
    answer = browser.post(f"{page}do/discontinue/", {"reason": REASON})

    assert answer.status_code == 302
    with tenant_context(made.id):
        row = Product.objects.get(tenant_id=made.id, pk=product["id"])
        counter = ProductCounter.objects.get(tenant_id=made.id)
    assert (row.status, row.version, counter.active, counter.discontinued) == ("discontinued", 2, 0, 1)
    assert facts(made.tenant)[-3:] == ["product.updated", "product.discontinued", REASON]
    refused(
        buyer().api.post("/v1/stock/reservations", json=reservation(made, (product, 1))), 409, "offer_not_available"
    )
    assert "do/discontinue/" not in browser.get(f"{page}change/").content.decode()
    again = browser.post(f"{page}do/discontinue/", {"reason": REASON})
    assert (again.status_code, facts(made.tenant)[-1]) == (200, REASON)
    with tenant_context(made.id):
        assert Product.objects.get(tenant_id=made.id, pk=product["id"]).version == 2


def test_staff_unpublish_an_offer(stocked: tuple[Shelf, dict[str, Any], UUID]) -> None:
    made, product, offer_id = stocked
    browser, page = office(made.tenant), f"{OFFERS}{offer_id}/"

    assert browser.post(f"{page}do/unpublish/", {"reason": REASON}).status_code == 302

    with tenant_context(made.id):
        assert Offer.objects.get(tenant_id=made.id).status == "paused"
    assert facts(made.tenant)[-2:] == ["offer.unpublished", REASON]
    refused(
        buyer().api.post("/v1/stock/reservations", json=reservation(made, (product, 1))), 409, "offer_not_available"
    )


@pytest.mark.parametrize("role", ["support", "finance", "security"])
def test_other_staff_moderate_nothing(stocked: tuple[Shelf, dict[str, Any], UUID], role: str) -> None:
    made, product, offer_id = stocked
    browser = office(made.tenant, role)

    for path in (f"{PRODUCTS}{product['id']}/do/discontinue/", f"{OFFERS}{offer_id}/do/unpublish/"):
        assert browser.post(path, {"reason": REASON}).status_code == 403
    with tenant_context(made.id):
        assert Product.objects.get(tenant_id=made.id, pk=product["id"]).status == "active"
        assert Offer.objects.get(tenant_id=made.id).status == "published"


@pytest.mark.parametrize("page", ["product", "packaging", "stocklevel", "stockmovement", "offer"])
def test_pages_find_rows_by_gtin(page: str) -> None:
    made, code = shelf(), products.gtin()
    found = made.product(packagings=[products.packaging(gtin=code)])
    other = made.product()
    for product in (found, other):
        made.stock(product, 3)
        made.offer(product)

    browser = office(made.tenant, "support")
    for text in (code, f"0{code}"):
        shown = browser.get(f"/admin/suppliers/{page}/?q={text}").content.decode()
        assert "1 result" in shown
    assert "0 results" in browser.get(f"/admin/suppliers/{page}/?q={products.gtin()}").content.decode()


def test_a_category_is_mapped_and_stays_so_after_a_migration() -> None:
    row = PlatformCategory.objects.get(code="training")
    browser, page = signed_in("supply"), f"/admin/suppliers/platformcategory/{row.pk}/do/map/"
    sent = {"unspsc": "86000000", "emdn": "", "atc": "", "reason": REASON}
    try:
        said = browser.post(page, sent | {"unspsc": "abc"}).content.decode()
        assert "This is not a code of UNSPSC" in said
        assert PlatformCategory.objects.get(pk=row.pk).mappings == row.mappings
        assert browser.post(page, sent).status_code == 302
        seed_taxonomy("owner")
        changed = PlatformCategory.objects.get(pk=row.pk)
        assert (changed.mappings, changed.version) == ({"unspsc": "86000000"}, row.version + 1)
        assert "86000000" in browser.get(page).content.decode()
    finally:
        PlatformCategory.objects.using("owner").filter(pk=row.pk).update(mappings=row.mappings, version=row.version + 2)
    assert signed_in("support").post(page, sent).status_code == 403


def _fresh_gtin() -> str:
    body = f"98{secrets.randbelow(10**10):010d}"
    return body + str(ean.calc_check_digit(body))


def test_gtins_of_several_suppliers_stand_side_by_side() -> None:
    code, own = _fresh_gtin(), _fresh_gtin()  # rows of earlier runs stay
    names = []
    for _ in range(2):
        tenant = factories.provision("supplier")
        api = factories.Api(key=factories.api_key(tenant), tenant=tenant)
        names.append(f"Gauze {factories.suffix()}")
        products.create(api, name=names[-1], packagings=[products.packaging(gtin=code)])
    products.create(api, packagings=[products.packaging(gtin=own)])

    browser = signed_in("supply")
    shown = browser.get(f"{DUPLICATES}?after={int(code) - 1:014d}").content.decode()

    assert all(name in shown for name in names)
    assert f"0{code}" in shown
    assert f"0{own}" not in shown
    assert f"0{code}" not in browser.get(f"{DUPLICATES}?after={int(code):014d}").content.decode()
    assert browser.get(f"{DUPLICATES}?after=x").status_code == 200
    assert signed_in("finance").get(DUPLICATES).status_code == 403
