"""Agreements in force: no two for the same goods, for whom they hold, and who never sees a sign of them."""

import time
from datetime import date
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from core.db import tenant_context
from core.invariants import breaches
from core.pipeline import run
from organizations.models import Tenant
from suppliers.agreements.force import force_call
from suppliers.agreements.models import AgreementAudience, PriceAgreement, PriceAgreementLine, ReceivedAgreementLine
from tests import races
from tests.factories import Api, api_key, as_member, organization, provision
from tests.suppliers.agreements.world import BUYING, PATH, World, events, more_products, rows_of
from tests.suppliers.products import create, field_errors, packaging

PERCENT = [{"min_quantity": 1, "discount_percent": "12.5"}]


def tier(least: int, price: str = "4.10") -> dict[str, Any]:
    """Return a tier."""
    return {"min_quantity": least, "unit_price": price}


def test_acceptance_names_each_line_that_overlaps(world: World) -> None:
    free, taken = more_products(world.seller, 2)
    both = [world.line(product_id=one["id"], packaging_id=one["packagings"][0]["id"]) for one in (free, taken)]
    world.active(lines=[both[1], world.line(tiers=[tier(1), tier(50)])])
    second = world.proposed(lines=[*both, world.line(tiers=[tier(50)])], priority=9)
    before = world.stored()

    answer = world.act("buyer", second, "accept")

    assert (answer.status_code, answer.json()["code"]) == (409, "agreement_overlap")
    assert [(one["field"], one["pointer"]) for one in answer.json()["errors"]] == [
        ("lines.1", "/lines/1"),
        ("lines.2", "/lines/2"),
    ]
    assert "PA-000001" in answer.json()["errors"][0]["message"]
    assert world.stored() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"valid_from": "2030-01-01", "valid_to": "2031-01-01"},
        {"currency": "USD"},
        {"lines": "other tier"},
        {"lines": "every packaging"},
        {"scope": "organization"},
    ],
    ids=str,
)
def test_what_differs_in_one_respect_does_not_overlap(world: World, changes: dict[str, Any]) -> None:
    lines = {
        "other tier": [world.line(tiers=[tier(2)])],
        "every packaging": [world.line(packaging_id=None, tiers=PERCENT)],
    }
    world.active()

    second = world.active(**{**changes, **({"lines": lines[changes["lines"]]} if "lines" in changes else {})})

    assert world.buyer.get(f"{PATH}/{second}").json()["data"]["agreement_number"] == "PA-000002"


@pytest.mark.parametrize("count", [2, 4])
def test_of_overlapping_agreements_accepted_at_once_one_is_in_force(world: World, count: int) -> None:
    keys = [world.proposed() for _ in range(count)]
    clients = [as_member(world.hospital, BUYING) for _ in keys]

    answers = races.race(*(
        (lambda api=api, key=key: api.post(f"{PATH}/{key}/accept")) for api, key in zip(clients, keys, strict=True)
    ))  # fmt: skip

    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (count - 1)
    refused = [answer.json() for answer in answers if answer.status_code == 409]
    assert {one["code"] for one in refused} == {"agreement_overlap"}
    assert all([error["field"] for error in one["errors"]] == ["lines.0"] for one in refused)
    with tenant_context(world.hospital.id):
        mine = PriceAgreement.objects.filter(tenant_id=world.hospital.id)
        assert sorted(mine.values_list("status", flat=True)) == ["active"] + ["proposed"] * (count - 1)
        assert PriceAgreementLine.objects.filter(tenant_id=world.hospital.id, in_force=True).count() == 1
    for tenant in (world.supplier, world.hospital):
        assert not [*breaches(tenant.id)]


def test_one_proposal_accepted_twice_at_once_takes_effect_once(world: World) -> None:
    key = world.proposed()
    clients = [as_member(world.hospital, BUYING) for _ in range(3)]

    answers = races.race(*((lambda api=api: api.post(f"{PATH}/{key}/accept")) for api in clients))

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert events(world.hospital).count("price_agreement.activated") == 1
    assert events(world.supplier).count("price_agreement.activated") == 1


def test_proposals_at_once_have_numbers_of_their_own(world: World) -> None:
    keys = [world.drafted(by) for by in ("supplier", "buyer", "supplier")]
    other = [world.seller, world.buyer, Api(key=api_key(world.supplier), tenant=world.supplier)]

    answers = races.race(*(
        (lambda api=api, key=key: api.post(f"{PATH}/{key}/propose")) for api, key in zip(other, keys, strict=True)
    ))  # fmt: skip

    assert sorted(answer.json()["data"]["agreement_number"] for answer in answers) == [
        "PA-000001", "PA-000002", "PA-000003",
    ]  # fmt: skip


def test_of_two_who_propose_one_draft_or_begin_the_next_at_once_one_is_told_to_try_again(world: World) -> None:
    clients = [Api(key=api_key(world.supplier), tenant=world.supplier) for _ in range(2)]
    key = world.drafted()

    proposed = races.race(*((lambda api=api: api.post(f"{PATH}/{key}/propose")) for api in clients))
    assert world.act("buyer", key, "accept").status_code == 200
    begun = races.race(*(
        (lambda api=api: api.patch(f"{PATH}/{key}", json={"title": api.headers["X-API-Key"][:20]})) for api in clients
    ))  # fmt: skip

    for answers, codes in ((proposed, {"concurrent_update", "invalid_transition"}), (begun, {"concurrent_update"})):
        refused = [answer for answer in answers if answer.status_code != 200]
        assert len(refused) <= 1
        assert all((one.status_code, one.json()["code"] in codes) == (409, True) for one in refused)
    assert sum(answer.status_code == 200 for answer in proposed) == 1
    assert events(world.supplier).count("price_agreement.proposed") == 1
    assert len(world.seller.get(f"{PATH}/{key}").json()["data"]["versions"]) == 2


def test_constraint_alone_lets_no_two_lines_hold(world: World) -> None:
    world.active()
    second = world.proposed()
    with pytest.raises(IntegrityError, match="suppliers_agreementline_no_overlap"), tenant_context(world.hospital.id):
        row = PriceAgreement.objects.get(tenant_id=world.hospital.id, agreement_id=second)
        run([force_call(world.hospital.id, row.id, in_force=True)])
    assert world.buyer.get(f"{PATH}/{second}").json()["data"]["status"] == "proposed"


def test_planted_faults_of_lines_are_found(world: World) -> None:
    key = world.active()
    mine, theirs = {"tenant_id": world.hospital.id}, {"tenant_id": world.supplier.id}
    with tenant_context(world.hospital.id):
        PriceAgreementLine.objects.filter(**mine).update(in_force=False)
    found = {(one.rule, one.table) for one in breaches(world.hospital.id)}
    assert found == {("price_agreements", "suppliers_priceagreement")}
    with tenant_context(world.hospital.id):
        PriceAgreementLine.objects.filter(**mine).update(in_force=True)
    assert not [*breaches(world.hospital.id)]
    with tenant_context(world.supplier.id):
        ReceivedAgreementLine.objects.filter(**theirs).update(consumed=5)
    assert [one.what for one in breaches(world.hospital.id)] == ["differs in the index of lines"]
    with tenant_context(world.hospital.id):
        PriceAgreementLine.objects.filter(**mine).update(consumed=5)
    assert not [*breaches(world.hospital.id)]
    assert world.seller.get(f"{PATH}/{key}").json()["data"]["lines"][0]["consumed"] == 5
    # what somebody else counts stays, when the copy is written again
    assert world.seller.patch(f"{PATH}/{key}", json={"title": "Next"}).status_code == 200
    assert not [*breaches(world.hospital.id)]


def audience(world: World) -> dict[UUID, int]:
    """Return for whom agreements in force hold, with the distance."""
    with tenant_context(world.supplier.id):
        found = AgreementAudience.objects.filter(tenant_id=world.supplier.id)
        return dict(found.values_list("member_tenant_id", "distance"))


def test_agreement_of_a_tenant_holds_for_it_alone(world: World) -> None:
    provision("provider", under=world.hospital.organization)
    world.proposed()
    assert audience(world) == {}
    world.active(lines=[world.line(tiers=[tier(2)])])
    assert audience(world) == {world.hospital.id: 0}


def test_agreement_of_an_organization_holds_for_all_below_and_ends_with_its_version(world: World) -> None:
    ward = organization(parent=world.hospital.organization)
    near, far, apart = provision("pharmacy", under=ward), provision(under=organization(parent=ward)), provision()

    key = world.active(scope="organization")

    assert audience(world) == {world.hospital.id: 1, near.id: 2, far.id: 3}
    assert apart.id not in audience(world)
    assert world.buyer.patch(f"{PATH}/{key}", json={"scope": "tenant"}).status_code == 200
    assert world.act("buyer", key, "propose").status_code == 200
    assert world.act("supplier", key, "accept").status_code == 200
    assert audience(world) == {world.hospital.id: 0}


def test_group_narrows_an_organization(world: World) -> None:
    ward = provision("pharmacy", under=organization(parent=world.hospital.organization))
    stranger = provision("provider")
    groups = [
        {"code": "wards", "name": "W", "buyer_ids": [str(ward.id), str(stranger.id)]},
        {"code": "all", "name": "A", "organization_ids": [str(world.hospital.organization_id)]},
        {"code": "secret", "name": "S", "buyer_ids": [str(stranger.id)]},
    ]
    assert world.seller.patch("/v1/suppliers/me", json={"buyer_groups": groups}).status_code == 200

    world.active(scope="organization", group="wards")
    assert audience(world) == {ward.id: 2}
    unknown = world.buyer.post(PATH, json=world.body("buyer", scope="organization", group="secret"))
    assert field_errors(unknown) == {("group", "unknown_group")}
    world.active("buyer", scope="organization", group="all", lines=[world.line(tiers=[tier(7)])])
    assert audience(world) == {world.hospital.id: 1, ward.id: 2}


def test_second_hospital_never_sees_a_sign(world: World) -> None:
    rival: Tenant = provision("provider", under=None)
    spy = as_member(rival, ("tenant_admin", *BUYING))
    stranger = provision("supplier")
    other_seller = Api(key=api_key(stranger), tenant=stranger)
    nothing = [rows_of(rival), rows_of(stranger)]
    drafts = [world.drafted(), world.drafted("buyer")]
    key = world.active(scope="organization")
    assert world.buyer.patch(f"{PATH}/{key}", json={"title": "Next"}).status_code == 200

    for api in (spy, other_seller):
        assert api.get(PATH).json()["data"] == []
        for known in (key, *drafts):
            assert api.get(f"{PATH}/{known}").json()["code"] == "not_found"
            assert api.patch(f"{PATH}/{known}", json={"title": "Mine"}).status_code == 404
            for action in ("propose", "accept", "decline"):
                assert api.post(f"{PATH}/{known}/{action}").status_code == 404
    feed = "/v1/events?type=price_agreement.activated"
    mine = as_member(world.hospital)
    ends = time.monotonic() + 30
    while not mine.get(feed).json()["data"] and time.monotonic() < ends:  # a feed ends a little before now
        time.sleep(0.2)
    assert (len(mine.get(feed).json()["data"]), spy.get(feed).json()["data"]) == (1, [])
    assert [rows_of(rival), rows_of(stranger)] == nothing
    assert {one["buyer_id"] for one in world.seller.get(PATH).json()["data"]} == {str(world.hospital.id)}


def test_rows_are_shut_off_from_other_tenants(world: World) -> None:
    world.active()
    rival = provision("provider")
    for tenant, model in ((world.hospital, PriceAgreement), (world.hospital, PriceAgreementLine)):
        with tenant_context(rival.id):
            assert not model.objects.filter(tenant_id=tenant.id).exists()
            assert model.objects.filter(tenant_id=tenant.id).update(updated_at="2026-01-01T00:00:00Z") == 0
    with tenant_context(world.supplier.id):
        assert not PriceAgreement.objects.filter(tenant_id=world.hospital.id).exists()


def test_proposal_to_a_managed_supplier_takes_effect_at_once(world: World) -> None:
    made = as_member(world.hospital, ("buyer",)).post(
        "/v1/suppliers", json={"legal_name": "Corner Shop", "country": "DE"}
    )
    assert made.status_code == 201, made.content
    managed = made.json()["data"]["id"]
    lines = [{"category": "consumables", "tiers": PERCENT}]

    key = world.drafted("buyer", supplier_id=managed, lines=lines)
    sent = world.act("buyer", key, "propose")

    assert sent.status_code == 200, sent.content
    data = sent.json()["data"]
    assert (data["status"], data["accepted_by_supplier_at"], data["supplier_name"]) == ("active", None, "Corner Shop")
    assert events(world.hospital) == [f"price_agreement.{one}" for one in ("created", "proposed", "activated")]
    with tenant_context(UUID(managed)):
        assert not AgreementAudience.objects.filter(tenant_id=managed).exists()
    assert not [*breaches(world.hospital.id)]
    second = world.drafted("buyer", supplier_id=managed, lines=lines)
    before = rows_of(world.hospital)
    taken = world.act("buyer", second, "propose")
    assert (taken.status_code, taken.json()["code"]) == (409, "agreement_overlap")
    assert rows_of(world.hospital) == before
    stranger = as_member(provision("provider"), BUYING)
    foreign = stranger.post(PATH, json=world.body("buyer", supplier_id=managed, lines=lines))
    assert field_errors(foreign) == {("supplier_id", "unknown_supplier")}


@pytest.mark.parametrize(
    ("currency", "price", "amount"),
    [("JPY", "412", "100"), ("EUR", "4.123456", "100.50"), ("TND", "0.000001", "1.125"), ("CLF", "3.1", "0.1250")],
)
def test_amounts_are_exact_in_every_exponent(world: World, currency: str, price: str, amount: str) -> None:
    money = {"amount": amount, "currency": currency}
    key = world.active(currency=currency, min_order_value=money, lines=[world.line(tiers=[tier(1, price)])])
    wanted = price if "." in price and len(price.split(".")[1]) > 1 else f"{float(price):.2f}"
    for api in (world.buyer, world.seller):
        data = api.get(f"{PATH}/{key}").json()["data"]
        assert data["min_order_value"] == money
        assert data["lines"][0]["tiers"] == [{"min_quantity": 1, "unit_price": wanted}]


def test_a_closed_party_writes_and_is_written_to_no_more(world: World) -> None:
    from django.db import connections

    key, draft = world.proposed("buyer"), world.drafted("buyer")
    with connections["platform"].cursor() as cursor:
        cursor.execute("UPDATE organizations_tenant SET status = 'offboarding' WHERE id = %s", [world.supplier.id])
        cursor.execute("UPDATE organizations_tenant SET status = 'closed' WHERE id = %s", [world.supplier.id])
    before = rows_of(world.hospital)
    answer = world.act("buyer", draft, "propose")
    assert (answer.status_code, answer.json()["code"]) == (409, "party_closed")
    assert rows_of(world.hospital) == before
    assert world.buyer.get(f"{PATH}/{key}").json()["data"]["status"] == "proposed"


def test_lines_of_several_packagings(world: World) -> None:
    product = create(world.seller, packagings=[packaging(), packaging(level="case", units_per_pack=10)])
    lines = [
        world.line(product_id=product["id"], packaging_id=one["id"], tiers=[tier(1, str(price))])
        for price, one in enumerate(product["packagings"], 1)
    ]
    lines += [{"product_id": product["id"], "tiers": PERCENT}, {"category": "consumables", "tiers": PERCENT}]
    key = world.active(lines=lines, valid_from=str(date(2026, 1, 1)))
    assert len(world.buyer.get(f"{PATH}/{key}").json()["data"]["lines"]) == 4
    with transaction.atomic(), tenant_context(world.supplier.id):
        assert ReceivedAgreementLine.objects.filter(tenant_id=world.supplier.id).count() == 4
