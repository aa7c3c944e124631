"""Lists of a side: in one trip where the side is as before, and right at once where the tenant's kinds have changed."""

from typing import Any

from bench.statements import recording
from organizations.models import Tenant
from tests.factories import Api, as_member, provision
from tests.suppliers.agreements.world import BUYING, PATH, World
from tests.suppliers.products import create


def _titles(api: Api, query: str = "") -> tuple[list[str], int]:
    """Return the titles of a list, and in how many trips it was read."""
    with recording() as seen:
        answer = api.get(f"{PATH}?{query}")
    assert answer.status_code == 200, answer.content
    return [one["title"] for one in answer.json()["data"]], len(seen.trips)


def _become(tenant: Tenant, *kinds: str) -> None:
    Tenant.objects.using("owner").filter(pk=tenant.pk).update(kinds=[*kinds])


def test_list_follows_the_kinds_of_the_tenant(world: World) -> None:
    both = provision("supplier", also=("provider",))
    person = as_member(both, ["supplier_admin", *BUYING])
    own: Any = create(person)
    line = {"product_id": own["id"], "packaging_id": own["packagings"][0]["id"], "tiers": world.line()["tiers"]}
    sold = person.post(f"{PATH}?side=supplier", json={**world.body("supplier", lines=[line]), "title": "Sold"})
    bought = person.post(PATH, json={**world.body("buyer"), "title": "Bought"})
    assert (sold.status_code, bought.status_code) == (201, 201), (sold.content, bought.content)

    assert _titles(person) == (["Bought"], 1)
    _become(both, "supplier")
    assert _titles(person) == (["Sold"], 2)
    assert _titles(person) == (["Sold"], 1)
    _become(both, "provider")
    assert _titles(person) == (["Bought"], 2)
    assert _titles(person, "side=supplier") == (["Bought"], 2)
    _become(both, "supplier", "provider")
    assert _titles(person) == (["Bought"], 1)
    assert _titles(person, "side=supplier") == (["Sold"], 2)


def test_list_of_a_supplier_takes_one_trip_from_the_second_time_on(world: World) -> None:
    assert world.seller.get(PATH).status_code == 200
    assert _titles(world.seller) == ([], 1)
