"""/v1/suppliers/me: the profile from its defaults to its last member, what counts as a change, and who reaches it."""

from typing import Any

import pytest

from bench.statements import recording
from core.db import tenant_context
from suppliers.company.bank_accounts import opened
from suppliers.company.models import BuyerGroup, BuyerGroupMember, SupplierLicense, SupplierProfile
from suppliers.company.settings import DEFAULTS
from tests.factories import Api, api_key, as_member, organization, provision, suffix
from tests.races import race
from tests.suppliers.company.profiles import ME, full, license_body, patched, read, stored, told


@pytest.fixture
def tenant() -> Any:
    return provision("supplier", qualified=False)


@pytest.fixture
def api(tenant: Any) -> Api:
    return as_member(tenant, ["supplier_admin"])


def test_profile_without_anything_stored_is_the_tenants(tenant: Any, api: Api) -> None:
    answer = api.get(ME)

    found = answer.json()["data"]
    assert answer.headers["ETag"] == '"1"'
    assert (found["id"], found["legal_name"], found["country"], found["version"]) == (
        str(tenant.id), tenant.name, None, 1,
    )  # fmt: skip
    assert (found["qualification_status"], found["order_settings"]) == ("registered", dict(DEFAULTS))
    rates = dict.fromkeys(("on_time_rate", "fill_rate", "quality_rate"))
    assert found["rating"] == {"from": None, "to": None, **rates, "orders_counted": 0, "links": rates}
    assert (found["licenses"], found["buyer_groups"], found["bank_account"]) == ([], [], None)
    assert api.get(ME, headers={"If-None-Match": '"1"'}).status_code == 304
    assert stored(tenant) is None


def test_country_is_that_of_the_organization_until_another_is_stored() -> None:
    parent = organization()
    parent.address = {"country": "SE", "city": "Lund"}
    parent.save(update_fields=["address"])
    api = as_member(provision("supplier", under=parent, qualified=False), ["supplier_admin"])

    assert read(api)["country"] == "SE"
    assert patched(api, trade_name="X")["country"] == "SE"
    assert patched(api, country="NO")["country"] == "NO"


def test_every_member_is_written_and_read_again(tenant: Any, api: Api) -> None:
    buyer, above = provision("provider"), organization()
    groups = [
        {"code": "b", "buyer_ids": [str(buyer.id), str(buyer.id)], "reservation_cap_percent": 80},
        {"code": "a", "name": "All of them", "organization_ids": [str(above.id)]},
    ]

    found = patched(api, **full(buyer_groups=groups))

    assert found["registrations"] == [
        {"scheme": "VAT", "value": "DE136695976"}, {"scheme": "GLN", "value": "4006381000000"},
        {"scheme": "DUNS", "value": "150483782"}, {"scheme": "LEI", "value": "213800KUD8LAJWSQ9D15"},
        {"scheme": "SRN", "value": "DE-MF-000012345"}, {"scheme": "national", "value": "HRB 4711"},
    ]  # fmt: skip
    assert (found["currencies"], found["ships_to"]) == (["EUR", "NOK"], ["DE", "NO"])
    assert found["min_order_value"] == {"amount": "100.50", "currency": "EUR"}
    assert found["payment_terms"]["discount_percent"] == "2"
    assert found["bank_account"] == {"last4": "3000", "verified": False}
    assert found["tax_rates"] == [{"tax_category": "S", "country": "DE", "rate": "19", "valid_from": "2026-01-01"}]
    assert found["order_settings"] == {**DEFAULTS, "auto_allocate": True, "reservation_cap_percent": 25}
    assert [one["type"] for one in found["licenses"]] == ["wholesale", "iso13485"]
    assert {one["verified"] for one in found["licenses"]} == {False}
    assert found["buyer_groups"] == [
        {"code": "b", "name": None, "buyer_ids": [str(buyer.id)], "organization_ids": [], "reservation_cap_percent": 80},
        {
            "code": "a", "name": "All of them", "buyer_ids": [], "organization_ids": [str(above.id)],
            "reservation_cap_percent": None,
        },
    ]  # fmt: skip
    assert (found["version"], found) == (2, read(api))
    row = stored(tenant)
    assert row is not None
    assert row.order_settings == {"auto_allocate": True, "reservation_cap_percent": 25}
    assert b"DE89" not in bytes(row.bank_account)
    with tenant_context(tenant.id):
        assert opened(row) == {"iban": "DE89370400440532013000", "bic": "COBADEFFXXX", "holder": "Nordic"}
    (fact,) = told(tenant)
    assert (fact.type, fact.resource_id, fact.resource_version) == ("supplier.updated", tenant.id, 2)
    assert fact.data == {"changed": sorted({*full()}), "qualification_status": "registered"}


def test_the_same_again_writes_nothing(tenant: Any, api: Api) -> None:
    buyer = provision("provider")
    body = full(buyer_groups=[{"code": "a", "buyer_ids": [str(buyer.id)]}])
    before = patched(api, **body)

    again = patched(api, **body)
    empty = patched(api)

    assert again == empty == before
    assert len(told(tenant)) == 1


def test_nothing_asked_of_a_profile_that_is_not_stored_stores_nothing(tenant: Any, api: Api) -> None:
    assert patched(api, legal_name=tenant.name, currencies=[])["version"] == 1
    assert stored(tenant) is None
    assert told(tenant) == []


def test_lists_are_replaced_and_null_takes_away(api: Api) -> None:
    patched(api, **full())

    found = patched(
        api, registrations=[], licenses=[], contacts=[], trade_name=None, payment_terms=None, min_order_value=None,
        bank_account=None, order_settings={"auto_allocate": False},
    )  # fmt: skip

    assert (found["registrations"], found["licenses"], found["contacts"]) == ([], [], [])
    assert (found["trade_name"], found["payment_terms"], found["min_order_value"]) == (None, None, None)
    assert found["bank_account"] is None
    assert found["order_settings"] == {**DEFAULTS, "reservation_cap_percent": 25}
    assert found["legal_name"] == "Nordic Medical Supplies GmbH"


def test_versions_are_compared_from_the_first_on(tenant: Any, api: Api) -> None:
    stale = api.patch(ME, json={"trade_name": "A"}, headers={"If-Match": '"2"'})
    first = api.patch(ME, json={"trade_name": "A"}, headers={"If-Match": '"1"'})
    second = api.patch(ME, json={"trade_name": "B", "version": 1})

    assert (stale.status_code, stale.json()["code"]) == (409, "version_conflict")
    assert (first.status_code, first.headers["ETag"]) == (200, '"2"')
    assert (second.status_code, second.json()["current_version"]) == (409, 2)
    assert read(api)["trade_name"] == "A"


def test_one_licence_that_changes_is_verified_anew_and_the_others_stay(tenant: Any, api: Api) -> None:
    patched(api, licenses=[license_body(), license_body(number="WDA-2"), license_body(number="WDA-3")])
    with tenant_context(tenant.id):
        SupplierLicense.objects.filter(tenant_id=tenant.id).update_versions(
            verified_at="2026-01-01T00:00:00Z", at="2026-01-01T00:00:00Z"
        )
    before = {one["number"]: one for one in read(api)["licenses"]}

    found = patched(
        api,
        licenses=[license_body(number="WDA-4"), license_body(number="WDA-2", valid_to="2098-01-01"), license_body()],
    )["licenses"]

    assert [(one["number"], one["verified"]) for one in found] == [("WDA-4", False), ("WDA-2", False), ("WDA-1", True)]
    assert [one["id"] for one in found[1:]] == [before["WDA-2"]["id"], before["WDA-1"]["id"]]


def test_two_first_changes_at_once_both_arrive(tenant: Any) -> None:
    one, two = as_member(tenant, ["supplier_admin"]), as_member(tenant, ["supplier_admin"])

    answers = race(
        lambda: one.patch(ME, json={"trade_name": "One", "currencies": ["EUR"]}),
        lambda: two.patch(ME, json={"ships_to": ["DE"]}),
    )

    assert [answer.status_code for answer in answers] == [200, 200]
    found = read(one)
    assert (found["trade_name"], found["ships_to"], found["version"]) == ("One", ["DE"], 3)


def test_replay_writes_once(tenant: Any, api: Api) -> None:
    headers = {"Idempotency-Key": f"key-{suffix()}"}

    first = api.patch(ME, json={"trade_name": "A"}, headers=headers)
    again = api.patch(ME, json={"trade_name": "A"}, headers=headers)

    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(told(tenant)) == 1


def test_who_reaches_it(tenant: Any) -> None:
    key = api_key(tenant, roles=["supplier_integration"])
    hospital = as_member(provision("provider"), ["supplier_admin"])
    user = as_member(tenant, ["supplier_user"])

    assert Api(key=key, tenant=tenant).get(ME).status_code == 200
    for refused, code in (
        (Api(key=key, tenant=tenant).patch(ME, json={"trade_name": "A"}), "insufficient_scope"),
        (user.get(ME), "insufficient_scope"),
        (hospital.get(ME), "not_a_supplier"),
        (hospital.patch(ME, json={"trade_name": "A"}), "not_a_supplier"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (403, code)
    assert stored(tenant) is None


def test_profile_of_another_tenant_is_out_of_reach(tenant: Any, api: Api) -> None:
    patched(api, **full(buyer_groups=[{"code": "a", "buyer_ids": [str(provision("provider").id)]}]))
    other = provision("supplier", qualified=False)
    foreign = as_member(other, ["supplier_admin"])

    found = read(foreign)
    patched(foreign, legal_name="Another", licenses=[], buyer_groups=[])

    assert (found["legal_name"], found["licenses"], found["buyer_groups"]) == (other.name, [], [])
    assert read(api)["legal_name"] == full()["legal_name"]
    assert len(read(api)["licenses"]) == 2
    with tenant_context(other.id):
        for model in (SupplierProfile, SupplierLicense, BuyerGroup, BuyerGroupMember):
            assert set(model.objects.values_list("tenant_id", flat=True)) <= {other.id}


def test_statements_do_not_grow_with_the_lists(tenant: Any, api: Api) -> None:
    buyers = [str(provision("provider").id) for _ in range(3)]

    def counted(number: int) -> int:
        many = range(number)
        body = full(
            licenses=[license_body(number=f"{number}-{one}") for one in many],
            buyer_groups=[{"code": f"{number}-{one}", "buyer_ids": buyers[:number]} for one in many],
            trade_name=f"{number}",
        )
        with recording() as sent:
            patched(api, **body)
        return len(sent)

    patched(api, trade_name="0")
    first = counted(1)
    assert counted(3) <= counted(2)
    assert first > 0
    with recording() as sent:
        read(api)
    assert len(sent) <= 2
