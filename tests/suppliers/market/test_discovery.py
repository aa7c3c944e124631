"""The suppliers that a buyer finds: their public members, search and filters, and what nobody else may read."""

import pytest

from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from organizations.models import Tenant
from suppliers.company import qualification
from suppliers.company.models import SupplierProfile
from tests import factories
from tests.suppliers import products
from tests.suppliers.company.profiles import full, license_body, patched
from tests.suppliers.company.test_qualification import act, verify
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.inventory.shelf import shelf as new_shelf

PATH = "/v1/suppliers"
PUBLIC = {
    "id",
    "legal_name",
    "trade_name",
    "country",
    "registrations",
    "categories",
    "ships_to",
    "currencies",
    "payment_terms",
    "min_order_value",
    "licenses",
    "qualification_status",
    "rating",
    "created_at",
    "updated_at",
}
OF_BUYER = {"contacts", "tax_rates", "relationship"}  # what only its buyer describes, and the buyer's own  # fmt: skip


def listed(one, query=""):
    answer = one.api.get(f"{PATH}?{query}")
    assert answer.status_code == 200, answer.content
    return [item["id"] for item in answer.json()["data"]]


def named(shelf, **columns):
    """Give a supplier a word of its own to be found by, and further columns; return the word."""
    word = f"w{factories.suffix()}".replace("-", "")
    with tenant_context(shelf.id):
        values = {"trade_name": word} | columns
        SupplierProfile.objects.filter(tenant_id=shelf.id).update_versions(**values, at=now())
    return word


def test_supplier_is_told_by_its_public_members_alone(shelf, buyer):
    patched(shelf.api, **full())
    verify(shelf.tenant, "WDA-1")
    answer = buyer.api.get(f"{PATH}/{shelf.id}")
    found = answer.json()["data"]
    own = shelf.api.get("/v1/suppliers/me").json()["data"]
    own["rating"] = {name: value for name, value in own["rating"].items() if name not in ("from", "to", "links")}
    assert answer.status_code == 200
    assert found.keys() == PUBLIC | OF_BUYER | {"merged_into"}
    assert (found["contacts"], found["tax_rates"], found["merged_into"]) == (None, None, None)
    assert {name: found[name] for name in PUBLIC - {"licenses"}} == {name: own[name] for name in PUBLIC - {"licenses"}}
    hidden = ("id", "file_id")
    assert found["licenses"] == [
        {name: value for name, value in one.items() if name not in hidden} for one in own["licenses"]
    ]
    assert [one["verified"] for one in found["licenses"]] == [True, False]
    assert b"3000" not in answer.content
    assert b"orders@supplier.example" not in answer.content
    assert buyer.api.get(f"{PATH}/{shelf.id}", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_list_shows_what_the_supplier_alone_shows(shelf, buyer, other):
    patched(shelf.api, **full(trade_name=(word := f"w{factories.suffix()}".replace("-", ""))))
    alone = buyer.api.get(f"{PATH}/{shelf.id}").json()["data"]
    alone["relationship"] = {"status": "active", "blocks": [], "customer_number": None, "version": 1}
    assert alone.pop("merged_into") is None  # what is merged is in no list
    for one in (buyer, other):
        assert one.api.get(f"{PATH}?search={word}").json()["data"] == [alone]


def test_filters_and_search(shelf, buyer):
    columns = {"legal_name": "Ångström Straße Medical", "country": "NO", "categories": ["gloves"]}
    columns["registrations"] = [{"scheme": "national", "value": "HRB 4711"}]
    word = named(shelf, **columns)
    mine = f"search={word}"
    assert listed(buyer, mine) == [str(shelf.id)]
    for text in ("angstrom", "STRASSE", "Ångstr", "medical+hrb", "4711"):
        assert listed(buyer, f"search={word}+{text}") == [str(shelf.id)], text
    assert listed(buyer, f"search={word}+ngstrom") == []
    assert listed(buyer, f"{mine}&country=NO&category=gloves&status=qualified,suspended") == [str(shelf.id)]
    assert listed(buyer, f"{mine}&country=DE") == []
    assert listed(buyer, f"{mine}&category=antidiabetics") == []
    assert listed(buyer, f"{mine}&category=nothing") == []
    assert listed(buyer, f"{mine}&status=suspended") == []


def test_category_finds_who_names_one_below_it(shelf, buyer):
    from suppliers.catalog.models import PlatformCategory

    below = PlatformCategory.objects.exclude(parent=None).select_related("parent").first()
    word = named(shelf, categories=[below.code])
    assert listed(buyer, f"search={word}&category={below.parent.code}") == [str(shelf.id)]


def test_pages_in_the_order_of_names(buyer):
    word = f"w{factories.suffix()}".replace("-", "")
    made = {name: new_shelf() for name in ("beta", "Alpha", "Gamma")}
    for name, one in made.items():
        named(one, legal_name=name, trade_name=word)
    order = [str(made[name].id) for name in ("Alpha", "beta", "Gamma")]
    assert listed(buyer, f"search={word}") == order
    assert listed(buyer, f"search={word}&sort=-name") == order[::-1]
    for sort in ("created_at", "updated_at"):
        assert listed(buyer, f"search={word}&sort={sort}") == [str(one.id) for one in made.values()]
    for sort in ("name", "-created_at"):
        found, path = [], f"{PATH}?search={word}&limit=2&sort={sort}"
        while path:
            page = buyer.api.get(path).json()
            found += [one["id"] for one in page["data"]]
            token = page["next_cursor"]
            path = f"{PATH}?search={word}&limit=2&sort={sort}&cursor={token}" if token else ""
        assert found == listed(buyer, f"search={word}&sort={sort}")
        assert len(found) == 3


def test_who_takes_no_orders_is_listed_only_if_asked_for(shelf, buyer):
    word = named(shelf)
    act(shelf.tenant, qualification.suspend)
    assert listed(buyer, f"search={word}") == []
    assert listed(buyer, f"search={word}&status=suspended") == [str(shelf.id)]
    assert buyer.api.get(f"{PATH}/{shelf.id}").json()["data"]["qualification_status"] == "suspended"


@pytest.mark.parametrize("state", ["suspended", "offboarding"])
def test_supplier_whose_tenant_is_not_active_reads_suspended(shelf, buyer, state):
    word = named(shelf)
    Tenant.objects.filter(pk=shelf.id).update(status=state)
    assert listed(buyer, f"search={word}") == []
    assert listed(buyer, f"search={word}&status=suspended") == [str(shelf.id)]
    assert buyer.api.get(f"{PATH}/{shelf.id}").json()["data"]["qualification_status"] == "suspended"


def test_what_is_no_supplier_is_not_found(shelf, buyer, other):
    word = named(shelf)
    for state in ("offboarding", "closed"):
        Tenant.objects.filter(pk=shelf.id).update(status=state)
    silent = factories.provision("supplier", qualified=False)
    for key in (shelf.id, silent.id, other.id, buyer.id, "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"):
        refused(buyer.api.get(f"{PATH}/{key}"), 404, "not_found")
    assert listed(buyer, f"search={word}&status=registered,qualified,suspended") == []


def test_buyer_that_sells_too_does_not_find_itself():
    tenant = factories.provision("pharmacy", also=("supplier",))
    api = factories.as_member(tenant, ["buyer"])
    assert str(tenant.id) not in [one["id"] for one in api.get(f"{PATH}?search={tenant.name}").json()["data"]]


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [("status=x", "status", "invalid_choice"), ("status=,", "status", "invalid"), ("search=-", "search", "invalid"),
     ("country=XX", "country", "invalid_choice")],
)  # fmt: skip
def test_bad_questions(buyer, query, field, code):
    assert (field, code) in products.field_errors(buyer.api.get(f"{PATH}?{query}"))


def test_other_refusals(shelf, buyer):
    refused(buyer.api.get(f"{PATH}?sort=rating"), 400, "unknown_sort")
    refused(buyer.api.get(f"{PATH}?colour=red"), 400, "unknown_parameter")
    refused(buyer.api.get(f"{PATH}/{shelf.id}?colour=red"), 400, "unknown_parameter")
    refused(buyer.api.get(f"{PATH}?cursor=abc"), 400, "invalid_cursor")
    refused(shelf.api.get(PATH), 403, "insufficient_scope")
    for path in (PATH, f"{PATH}/{shelf.id}"):
        refused(factories.as_member(shelf.tenant, ["buyer"]).get(path), 403, "not_a_buyer")


@pytest.mark.parametrize("suppliers", [1, 3])
def test_statements_do_not_grow(buyer, suppliers):
    word = f"w{factories.suffix()}".replace("-", "")
    for _ in range(suppliers):
        one = new_shelf()
        patched(one.api, trade_name=word, licenses=[license_body(number=f"N {n}") for n in range(suppliers)])
    buyer.api.get(PATH)
    with recording() as found:
        assert len(buyer.api.get(f"{PATH}?search={word}").json()["data"]) == suppliers
    assert [len(trip.calls) for trip in found.trips] == [3]  # the proof, the role, the page


def test_fields_choose_members_of_a_page_and_of_one_supplier(shelf, buyer):
    word = named(shelf)
    one = f"{PATH}/{shelf.id}"
    chosen = {"id": str(shelf.id), "trade_name": word}
    assert buyer.api.get(f"{one}?fields=trade_name").json()["data"] == chosen
    assert buyer.api.get(f"{PATH}?search={word}&fields=trade_name").json()["data"] == [chosen]
    assert "merged_into" in refused(buyer.api.get(f"{one}?fields=owner"), 400, "unknown_field")["allowed"]
    assert "merged_into" not in refused(buyer.api.get(f"{PATH}?fields=owner"), 400, "unknown_field")["allowed"]
