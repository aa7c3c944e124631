"""What a draft of an agreement refuses, what each state allows, and that a refusal changes nothing."""

from typing import Any
from uuid import uuid4

import pytest

from tests.factories import Api, api_key, as_member, provision
from tests.suppliers.agreements.world import BUYING, PATH, World, other
from tests.suppliers.products import create, field_errors

TIERS = [{"min_quantity": 1, "unit_price": "4.10"}, {"min_quantity": 50, "unit_price": "3.95"}]
PERCENT = [{"min_quantity": 1, "discount_percent": "12.5"}]
CLIENTS = ("propose", "accept", "decline")
# By the state, with the side that has written the version: the actions that either side may call.
ALLOWED = {
    "draft": {("author", "propose")},
    "proposed": {("other", "accept"), ("other", "decline")},
    "active": set[tuple[str, str]](),
    "declined": set[tuple[str, str]](),
}
TOLD = {
    "draft": ["edit", "propose"], "proposed": ["accept", "decline"], "active": ["edit", "suspend", "terminate"],
    "declined": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"title": ""}, "title", "blank"),
        ({"scope": "group"}, "scope", "invalid_choice"),
        ({"currency": "XXX"}, "currency", "invalid_choice"),
        ({"valid_to": "2026-01-01"}, "valid_to", "min_value"),
        ({"valid_from": None}, "valid_from", "null"),
        ({"priority": 1001}, "priority", "max_value"),
        ({"group": "g"}, "group", "invalid"),
        ({"group": "g", "scope": "organization"}, "group", "unknown_group"),
        ({"qty_tolerance_bp": 10_001}, "qty_tolerance_bp", "max_value"),
        ({"min_order_value": {"amount": "1", "currency": "USD"}}, "min_order_value.currency", "invalid"),
        (
            {"currency": "JPY", "free_freight_from": {"amount": "1.5", "currency": "JPY"}},
            "free_freight_from.amount",
            "max_decimal_places",
        ),
        ({"lines": []}, "lines", "empty"),
        ({"state": "active"}, "state", "unknown_field"),
    ],
)
def test_draft_refuses_a_header_and_changes_nothing(
    world: World, changes: dict[str, Any], field: str, code: str
) -> None:
    key = world.drafted()
    before = world.stored()

    made = world.seller.post(PATH, json=world.body("supplier", **changes))
    edited = world.seller.patch(f"{PATH}/{key}", json=changes)

    assert field_errors(made) == {(field, code)}
    if field != "lines":
        assert field_errors(edited) == {(field, code)}
    else:
        assert field_errors(edited) == {("lines", "required")}
    assert world.stored() == before


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"tiers": []}, "tiers", "required"),
        ({"tiers": TIERS[::-1]}, "tiers", "invalid"),
        ({"tiers": [{"min_quantity": 1}]}, "tiers.0.unit_price", "required"),
        ({"tiers": [{**TIERS[0], "discount_percent": "5"}]}, "tiers.0.unit_price", "required"),
        ({"tiers": [{"min_quantity": 0, "unit_price": "1"}]}, "tiers.0.min_quantity", "min_value"),
        ({"tiers": [{"min_quantity": 1, "unit_price": "1.1234567"}]}, "tiers.0.unit_price", "max_decimal_places"),
        ({"tiers": [{"min_quantity": 1, "discount_percent": "100.1"}]}, "tiers.0.discount_percent", "max_value"),
        ({"product_id": None}, "product_id", "required"),
        ({"category": "gloves"}, "product_id", "required"),
        ({"product_id": None, "category": "consumables"}, "packaging_id", "invalid"),
        ({"product_id": None, "category": "consumables", "packaging_id": None}, "tiers", "invalid"),
        ({"packaging_id": None}, "packaging_id", "required"),
        ({"product_id": str(uuid4())}, "product_id", "unknown_product"),
        ({"packaging_id": str(uuid4())}, "packaging_id", "unknown_packaging"),
        (
            {"product_id": None, "category": "none", "packaging_id": None, "tiers": PERCENT},
            "category",
            "unknown_category",
        ),
        ({"max_quantity": 0}, "max_quantity", "min_value"),
        ({"remove": True}, "tiers", "required"),
        ({}, "", "duplicate"),
    ],
)
@pytest.mark.parametrize("by", ["supplier", "buyer"])
def test_draft_names_the_line_that_it_refuses(
    world: World, by: str, changes: dict[str, Any], field: str, code: str
) -> None:
    before = world.stored()
    lines = [world.line(), world.line(**changes)]

    answer = world.api(by).post(PATH, json=world.body(by, lines=lines))

    assert field_errors(answer) == {(f"lines.1.{field}".rstrip("."), code)}
    assert world.stored() == before


def test_both_parties_are_two_that_trade(world: World) -> None:
    before = world.stored()
    refused = {
        "required": world.seller.post(PATH, json=world.body("supplier", buyer_id=None)),
        "unknown_buyer": world.seller.post(PATH, json=world.body("supplier", buyer_id=str(uuid4()))),
        "unknown_supplier": world.buyer.post(PATH, json=world.body("buyer", supplier_id=str(uuid4()))),
        "invalid": world.buyer.post(PATH, json=world.body("buyer", buyer_id=str(world.supplier.id))),
    }
    for code, answer in refused.items():
        assert {found for _, found in field_errors(answer)} == {code}, answer.content
    for api, by, tenant in (
        (world.seller, "supplier", world.supplier),
        (world.buyer, "buyer", world.hospital),
    ):
        name = {"supplier": "buyer_id", "buyer": "supplier_id"}[by]
        answer = api.post(PATH, json=world.body(by, **{name: str(tenant.id)}))
        assert (answer.status_code, answer.json()["code"]) == (400, "self_trade")
    only_buyer = world.seller.post(PATH, json=world.body("supplier", buyer_id=str(provision("supplier").id)))
    assert field_errors(only_buyer) == {("buyer_id", "unknown_buyer")}
    assert world.stored() == before


def test_products_of_others_are_unknown(world: World) -> None:
    stranger = provision("supplier")
    foreign = create(Api(key=api_key(stranger), tenant=stranger))
    lines = [world.line(product_id=foreign["id"], packaging_id=foreign["packagings"][0]["id"])]

    assert field_errors(world.seller.post(PATH, json=world.body("supplier", lines=lines))) == {
        ("lines.0.product_id", "unknown_product")
    }
    mixed = [world.line(packaging_id=foreign["packagings"][0]["id"])]
    assert field_errors(world.buyer.post(PATH, json=world.body("buyer", lines=mixed))) == {
        ("lines.0.packaging_id", "unknown_packaging")
    }


def reached(world: World, state: str, author: str) -> str:
    """Bring an agreement of an author into a state; return its id, or that of the version."""
    if state == "draft":
        return world.drafted(author)
    key = world.proposed(author)
    if state == "declined":
        assert world.act(other(author), key, "decline", json={"reason": "Too dear."}).status_code == 200
    if state == "active":
        assert world.act(other(author), key, "accept").status_code == 200
    return key


@pytest.mark.parametrize("author", ["supplier", "buyer"])
@pytest.mark.parametrize("state", ["draft", "proposed", "active", "declined"])
def test_each_state_allows_its_actions_and_no_other(world: World, state: str, author: str) -> None:
    key = reached(world, state, author)
    before = world.stored()
    for who in ("author", "other"):
        side = author if who == "author" else other(author)
        for action in CLIENTS:
            if (who, action) in ALLOWED[state]:
                continue
            answer = world.act(side, key, action)
            assert world.stored() == before, (who, action)
            if state == "draft" and who == "other":
                assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            elif state == "proposed" and action != "propose":
                assert (answer.status_code, answer.json()["code"]) == (403, "counterparty_only")
            else:
                told = {name: answer.json()[name] for name in ("code", "from", "action", "allowed")}
                assert answer.status_code == 409
                assert told == {
                    "code": "invalid_transition", "from": state, "action": action, "allowed": TOLD[state],
                }  # fmt: skip
    for who, action in ALLOWED[state]:
        assert world.act(author if who == "author" else other(author), reached(world, state, author), action, json=(
            {"reason": "No."} if action == "decline" else None
        )).status_code == 200  # fmt: skip


@pytest.mark.parametrize("state", ["proposed", "declined"])
@pytest.mark.parametrize("by", ["supplier", "buyer"])
def test_what_was_proposed_or_has_ended_does_not_change(world: World, state: str, by: str) -> None:
    key = reached(world, state, "supplier")
    before = world.stored()

    answer = world.api(by).patch(f"{PATH}/{key}", json={"title": "Other"})

    assert (answer.status_code, answer.json()["code"], answer.json()["state"]) == (409, "agreement_immutable", state)
    assert world.stored() == before


def test_a_version_that_waits_keeps_others_from_being_written(world: World) -> None:
    key = world.active()
    for by in ("buyer", "supplier"):
        assert world.api(by).patch(f"{PATH}/{key}", json={"title": by}).status_code == 200
    assert world.act("buyer", key, "propose").status_code == 200
    before = world.stored()

    pending = world.act("supplier", key, "propose")
    assert (pending.status_code, pending.json()["code"], pending.json()["from"]) == (
        409, "invalid_transition", "proposed",
    )  # fmt: skip
    fresh = world.buyer.patch(f"{PATH}/{key}", json={"title": "Again"})
    assert (fresh.status_code, fresh.json()["code"]) == (409, "agreement_immutable")
    assert world.stored() == before

    assert world.act("supplier", key, "accept").status_code == 200
    outdated = world.act("supplier", key, "propose")
    assert (outdated.status_code, outdated.json()["code"], outdated.json()["revision"]) == (409, "draft_outdated", 2)
    confirmed = world.seller.patch(f"{PATH}/{key}", json={})
    assert (confirmed.status_code, confirmed.json()["data"]["revision"]) == (200, 3)
    assert world.act("supplier", key, "propose").status_code == 200


def test_the_currency_stays_while_lines_stay(world: World) -> None:
    key = world.drafted()
    before = world.stored()
    for body in ({"currency": "JPY"}, {"currency": "JPY", "lines_mode": "merge", "lines": []}):
        answer = world.seller.patch(f"{PATH}/{key}", json=body)
        assert (answer.status_code, answer.json()["code"], answer.json()["fields"]) == (
            409,
            "field_locked",
            ["currency"],
        )
    assert world.stored() == before
    new = world.seller.patch(f"{PATH}/{key}", json={"currency": "JPY", "lines": [world.line()]})
    assert new.json()["data"]["currency"] == "JPY"


def test_versions_are_compared(world: World) -> None:
    key = world.drafted()
    assert world.seller.patch(f"{PATH}/{key}", json={"title": "Two"}, headers={"If-Match": '"1"'}).status_code == 200
    before = world.stored()
    for answer in (
        world.seller.patch(f"{PATH}/{key}", json={"title": "Three"}, headers={"If-Match": '"1"'}),
        world.seller.patch(f"{PATH}/{key}", json={"title": "Three", "version": 1}),
        world.act("supplier", key, "propose", headers={"If-Match": '"1"'}),
    ):
        assert (answer.status_code, answer.json()["code"], answer.json()["current_version"]) == (
            409,
            "version_conflict",
            2,
        )
    assert world.stored() == before
    tag = world.seller.get(f"{PATH}/{key}").headers["ETag"]
    assert world.seller.get(f"{PATH}/{key}", headers={"If-None-Match": tag}).status_code == 304
    assert world.act("supplier", key, "propose", headers={"If-Match": tag}).status_code == 200
    seen = world.buyer.get(f"{PATH}/{key}").headers["ETag"]
    stale = world.act("buyer", key, "accept", headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (409, "version_conflict")
    assert world.act("buyer", key, "accept", headers={"If-Match": seen}).status_code == 200


def test_what_does_not_differ_is_not_written(world: World) -> None:
    key = world.drafted()
    before = world.stored()
    same = world.seller.patch(f"{PATH}/{key}", json={"title": "Gloves", "lines": [world.line()]})
    assert (same.status_code, same.json()["data"]["version"]) == (200, 1)
    assert world.stored() == before


def test_a_repeated_request_is_answered_once(world: World) -> None:
    once = {"Idempotency-Key": str(uuid4())}
    made = [world.seller.post(PATH, json=world.body("supplier"), headers=once) for _ in range(2)]
    assert made[0].json() == made[1].json()
    key = made[0].json()["data"]["id"]
    for by, action in (("supplier", "propose"), ("buyer", "accept")):
        keyed = {"Idempotency-Key": str(uuid4())}
        first, again = (world.act(by, key, action, headers=keyed) for _ in range(2))
        assert (first.status_code, first.json()) == (200, again.json())
        assert again.headers["Idempotency-Replayed"] == "true"


def test_rights_of_each_side(world: World) -> None:
    key = world.proposed()
    reader = Api(key=api_key(world.supplier, scopes=["pricing:read"]), tenant=world.supplier)
    cases = [
        (reader, "GET", "", None, 200, ""),
        (reader, "POST", "/accept", None, 403, "insufficient_scope"),
        (as_member(world.hospital, ["approver"]), "PATCH", "", {"title": "T"}, 403, "insufficient_scope"),
        (as_member(world.hospital, ["buyer"]), "POST", "/accept", None, 403, "insufficient_scope"),
        (as_member(world.hospital, ["buyer"]), "POST", "/decline", None, 403, "insufficient_scope"),
        (as_member(world.hospital, ["receiving_clerk"]), "GET", "", None, 200, ""),
        (as_member(world.hospital, ["nurse"]), "GET", "", None, 403, "insufficient_scope"),
        (as_member(world.supplier, ["supplier_catalog"]), "GET", "", None, 403, "insufficient_scope"),
        (as_member(world.supplier, ["supplier_pricing"]), "GET", "", None, 200, ""),
    ]
    before = world.stored()
    for api, method, end, body, status, code in cases:
        answer = api.call(method, f"{PATH}/{key}{end}", json=body)
        assert answer.status_code == status, (method, end, answer.content)
        assert not code or answer.json()["code"] == code
    machine = Api(key=api_key(world.hospital, ["buyer"]), tenant=world.hospital)
    for answer in (machine.get(PATH), machine.get(f"{PATH}/{key}"), machine.post(PATH, json=world.body("buyer"))):
        assert (answer.status_code, answer.json()["code"]) == (403, "credential_not_accepted")
    assert world.stored() == before


def test_a_tenant_of_both_kinds_asks_for_one_side(world: World) -> None:
    both = provision("supplier", also=("provider",))
    person = as_member(both, ["supplier_admin", *BUYING])
    machine = Api(key=api_key(both), tenant=both)
    bought = person.post(PATH, json={**world.body("buyer"), "title": "Bought"})
    own = create(machine)
    line = {"product_id": own["id"], "packaging_id": own["packagings"][0]["id"], "tiers": TIERS}
    sold = person.post(f"{PATH}?side=supplier", json={**world.body("supplier", lines=[line]), "title": "Sold"})
    assert (bought.status_code, sold.status_code) == (201, 201), (bought.content, sold.content)

    def titles(api: Api, query: str = "") -> list[str]:
        return [one["title"] for one in api.get(f"{PATH}?{query}").json()["data"]]

    assert (titles(person), titles(person, "side=supplier"), titles(machine)) == (["Bought"], ["Sold"], ["Sold"])
    assert machine.get(f"{PATH}?side=buyer").json()["code"] == "credential_not_accepted"
    assert machine.get(f"{PATH}/{bought.json()['data']['id']}").json()["code"] == "credential_not_accepted"
    assert person.get(f"{PATH}/{sold.json()['data']['id']}").status_code == 200
    assert field_errors(person.get(f"{PATH}?side=both")) == {("side", "invalid_choice")}
    misplaced = person.get(f"{PATH}/{sold.json()['data']['id']}?side=supplier")
    assert (misplaced.status_code, misplaced.json()["code"]) == (400, "unknown_parameter")
    assert titles(world.buyer, "side=supplier") == []
