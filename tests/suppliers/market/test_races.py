"""Two at once: offers of one product, a fixed quantity, an audience and the tenant that comes below its organization."""

from collections import Counter

from core.db import tenant_context
from suppliers.marketplace.models import AudienceMember
from tests import factories
from tests.factories import Api
from tests.races import race
from tests.suppliers import products
from tests.suppliers.inventory.shelf import PATH, body, broken
from tests.suppliers.inventory.shelf import buyer as new_buyer
from tests.suppliers.inventory.test_offers import OFFERS, draft
from tests.suppliers.market.test_walls import body_of, seen

ROUNDS = 6


def client(shelf):
    """A further client of the supplier's member, for a thread of its own."""
    api = Api()
    api.headers = shelf.api.headers
    return api


def test_two_offers_of_a_product_are_hidden_and_shown_at_once(shelf, buyer):
    packs = [products.packaging(), products.packaging(level="case", units_per_pack=10)]
    product = shelf.product(packagings=packs)
    offers = [draft(shelf, product, packaging_id=packaging["id"]) for packaging in product["packagings"]]
    for offer in offers:
        shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json={"mode": "public"})
    for _ in range(ROUNDS):
        for verb, shown in (("publish", 1), ("unpublish", 0)):
            works = [lambda o=offer, v=verb: client(shelf).post(f"{OFFERS}/{o['id']}/{v}") for offer in offers]
            assert [answer.status_code for answer in race(*works)] == [200, 200]
            assert len(seen(buyer, "suppliers_product", shelf)) == shown
            assert broken(shelf) == []


def test_offer_is_published_while_its_product_is_discontinued(shelf, buyer):
    product = shelf.product()
    offer = draft(shelf, product)
    path, address = f"/v1/products/{product['id']}", f"{OFFERS}/{offer['id']}"
    for _ in range(ROUNDS):
        answers = race(
            lambda: client(shelf).post(f"{address}/publish"),
            lambda: client(shelf).put(path, json=body_of(product, status="discontinued")),
        )
        assert answers[0].status_code in (200, 409)
        assert answers[1].status_code == 200
        assert seen(buyer, "suppliers_product", shelf) == []
        assert broken(shelf) == []
        shelf.api.put(path, json=body_of(product))
        shelf.api.post(f"{address}/unpublish")


def test_fixed_quantity_is_promised_once(shelf):
    shelf.settle(reservation_cap_percent=100)
    product = shelf.product()
    shelf.stock(product, 1_000)
    shelf.offer(product, stock_policy="fixed", fixed_quantity=10)
    buyers = [new_buyer() for _ in range(2)]
    works = [
        lambda n=number: [buyers[n % 2].client().post(PATH, json=body(shelf, (product, 1))) for _ in range(4)]
        for number in range(8)
    ]
    answers = [answer for found in race(*works) for answer in found]
    assert Counter(answer.status_code for answer in answers) == {201: 10, 409: 22}
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"insufficient_stock"}
    assert broken(shelf, *buyers) == []


def test_tenant_and_audience_that_are_made_at_once_meet(shelf):
    offer = draft(shelf, shelf.product())
    for _ in range(ROUNDS):
        top = factories.organization("Group")
        ward = factories.organization("Hospital", parent=top)
        given = {"mode": "selected", "organization_ids": [str(top.id)]}
        made, answer = race(
            lambda w=ward: factories.provision("provider", under=w),
            lambda g=given: client(shelf).put(f"{OFFERS}/{offer['id']}/visibility", json=g),
        )
        assert answer.status_code == 200, answer.content
        with tenant_context(shelf.id):
            assert AudienceMember.objects.filter(tenant_id=shelf.id, member_tenant_id=made.id).exists()
        assert broken(shelf) == []


def test_same_choice_at_once_is_one_audience(shelf, buyer):
    offers = [draft(shelf, shelf.product()) for _ in range(4)]
    given = {"mode": "selected", "tenant_ids": [str(buyer.id)]}
    works = [lambda o=offer: client(shelf).put(f"{OFFERS}/{o['id']}/visibility", json=given) for offer in offers]
    assert [answer.status_code for answer in race(*works)] == [200] * 4
    with tenant_context(shelf.id):
        assert AudienceMember.objects.filter(tenant_id=shelf.id).count() == 1
    assert broken(shelf) == []
