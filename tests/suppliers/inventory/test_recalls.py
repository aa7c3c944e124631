"""Recalls of lots: issued over HTTP, told to the buyers concerned, answered by them, withdrawn."""

from datetime import date, timedelta

import pytest
from django.db import IntegrityError

from core import clock
from core.db import tenant_context
from core.errors import InvalidFields, InvalidTransition, NotFound
from suppliers.inventory.models import Lot, StockLevel, StockPlace
from suppliers.inventory.recalls.models import Recall
from suppliers.inventory.recalls.walking import walk_one
from suppliers.inventory.sweeping import tell_levels
from tests import factories
from tests.suppliers import products
from tests.suppliers.inventory import recalls as recalling
from tests.suppliers.inventory.recalls import (
    SAID,
    change,
    facts,
    list_concerned,
    lot_of,
    notices,
    progress,
    recall,
    received,
    walk,
)
from tests.suppliers.inventory.shelf import PATH, Buyer, body, broken, refused, reserve
from tests.suppliers.inventory.test_inventory import ADJUST, LEVELS, adjust, line, listed, place


def shelved(shelf, first=10, second=10):
    """Put two lots of a product on the shelf and offer it."""
    shelf.settle(reservation_cap_percent=100)
    product = shelf.product(tracking="lot")
    levels = [
        shelf.stock(product, quantity, lot=lot, expiry=date(year, 1, 1))
        for quantity, lot, year in ((first, "L1", 2030), (second, "L2", 2031))
    ]
    shelf.offer(product)
    return product, *levels


def test_request_takes_the_lot_off_the_market_at_once(shelf, buyer, other):
    product, first, _ = shelved(shelf)
    reserve(buyer, shelf, (product, 6))
    reserve(other, shelf, (product, 1))
    reserve(other, shelf, (product, 2))
    found = recall(shelf)
    assert (found["status"], found["status_reason"], found["version"]) == ("recalled", "Seal broken", 2)
    assert found["recall"] == SAID | {
        "issued_at": found["recall"]["issued_at"],
        "progress": {
            "buyers_total": 2, "buyers_told": 0, "buyers_answered": 0, "buyers_closed": 0, "quantity_found": 0,
            "quantity_disposed": 0,
        },
    }  # fmt: skip
    level = shelf.api.get(f"{LEVELS}/{first}").json()["data"]
    assert (level["on_hand"], level["reserved"], level["sellable"], level["lot_status"]) == (10, 9, 0, "recalled")
    assert (notices(shelf), recalling.recalls(shelf)[0].buyers_to_list) == ([], 2)
    (fact,) = facts(shelf)
    assert (fact.type, fact.data["recall_class"], fact.data["received"]) == ("lot.recalled", "II", None)
    tell_levels(at=clock.now() + timedelta(seconds=2))
    assert [one.data["sellable"] for one in facts(shelf, "stock.level_changed")][-1] == 0
    refused(other.api.post(PATH, json=body(shelf, (product, 11))), 409, "insufficient_stock")
    assert broken(shelf, buyer, other) == []


def test_walk_tells_each_buyer_and_breaks_what_it_reserved(shelf, buyer, other):
    product, first, second = shelved(shelf)
    (over_both,) = reserve(buyer, shelf, (product, 12))
    (of_second,) = reserve(other, shelf, (product, 3))
    found = recall(shelf)
    assert walk(shelf) == 1
    assert walk(shelf) == 0
    assert {str(row.id): row.status for row in shelf.reservations()} == {
        over_both["id"]: "broken", of_second["id"]: "active",
    }  # fmt: skip
    assert {row.reason for row in shelf.reservations() if row.status == "broken"} == {"recall"}
    assert (shelf.level(first).reserved, shelf.level(second).reserved) == (0, 3)
    (told,) = facts(buyer)
    (notice,) = notices(shelf)
    assert (told.type, told.resource_id, told.data) == (
        "lot.recalled",
        lot_of(shelf).id,
        {
            "product_id": product["id"], "lot_number": "L1", "status": "recalled", "expiry_date": "2030-01-01",
            "by": "supplier", "supplier_id": str(shelf.id), "recall_id": str(notice.recall_id), "recall_class": "II",
            "notice_id": str(notice.id), "received": 0, "still_held": None,
        },
    )  # fmt: skip
    assert [one.type for one in facts(buyer, "reservation.")] == ["reservation.created", "reservation.broken"]
    assert facts(other) == []
    (copy,) = received(buyer)
    assert (copy.id, copy.status, copy.number, copy.version) == (notice.id, "told", "L1", 2)
    assert copy.representation["recall"] == SAID | {"issued_at": found["recall"]["issued_at"]}
    assert (copy.representation["reserved"], copy.representation["lot_id"]) == (10, str(lot_of(shelf).id))
    assert (progress(shelf)["buyers_told"], progress(shelf)["buyers_total"]) == (1, 1)
    assert broken(shelf, buyer, other) == []


def test_buyers_are_listed_before_any_is_told(shelf, buyer, other):
    product, *_ = shelved(shelf)
    reserve(buyer, shelf, (product, 6))
    reserve(other, shelf, (product, 1))
    reserve(other, shelf, (product, 2))
    recall(shelf)
    found = list_concerned(shelf)
    assert {(row.buyer_tenant_id, row.reserved, row.received, row.status) for row in found} == {
        (buyer.id, 6, 0, "pending"), (other.id, 3, 0, "pending"),
    }  # fmt: skip
    (row,) = recalling.recalls(shelf)
    assert (row.buyers_to_list, row.is_walked) == (None, False)
    assert (progress(shelf)["buyers_total"], progress(shelf)["buyers_told"]) == (2, 0)
    assert len(list_concerned(shelf)) == 2
    assert walk(shelf) == 2
    assert [row.is_walked for row in recalling.recalls(shelf)] == [True]


def test_no_recall_is_walked_before_its_buyers_are_listed(shelf, buyer):
    product, *_ = shelved(shelf)
    reserve(buyer, shelf, (product, 2))
    recall(shelf)
    with pytest.raises(IntegrityError, match="suppliers_recall_walked_listed"), tenant_context(shelf.id):
        Recall.objects.filter(tenant_id=shelf.id).update(is_walked=True)


def test_recall_that_is_withdrawn_before_its_buyers_are_listed_tells_nobody(shelf, buyer):
    product, first, _ = shelved(shelf)
    reserve(buyer, shelf, (product, 2))
    recall(shelf)
    assert change(shelf, status="quarantined", reason="False alarm").status_code == 200
    walk(shelf)
    assert (facts(buyer), received(buyer), shelf.level(first).reserved) == ([], [], 0)
    assert {row.status for row in notices(shelf)} <= {"withdrawn"}
    assert [row.is_walked for row in recalling.recalls(shelf)] == [True]
    assert broken(shelf, buyer) == []


def test_recall_without_buyers_needs_no_walk(shelf):
    shelved(shelf)
    assert recall(shelf)["recall"]["progress"]["buyers_total"] == 0
    assert [row.is_walked for row in recalling.recalls(shelf)] == [True]
    assert broken(shelf) == []


def test_buyers_own_lots_of_that_origin_are_recalled(shelf):
    """A pharmacy that sells, too, so that it has a product of its own to hold the lot."""
    from tests.suppliers.inventory import shelf as shelves

    product, *_ = shelved(shelf)
    tenant = factories.provision("pharmacy", also=("supplier",))
    both = shelves.Buyer(tenant, factories.as_member(tenant, ["buyer", "supplier_admin"]))
    own = shelves.Shelf(tenant, both.api)
    mine = own.product(tracking="lot")
    levels = [own.stock(mine, quantity, lot=number) for quantity, number in ((4, "A"), (7, "B"))]
    origin = lot_of(shelf)
    with tenant_context(own.id):
        Lot.objects.filter(tenant_id=own.id, lot_number="A").update(origin_tenant_id=shelf.id, origin_lot_id=origin.id)
    reserve(both, shelf, (product, 2))
    recall(shelf)
    walk(shelf)
    assert {row.lot_number: row.status for row in (lot_of(own, "A"), lot_of(own, "B"))} == {
        "A": "recalled", "B": "released",
    }  # fmt: skip
    assert [(one.data["received"], one.data["still_held"]) for one in facts(both)] == [(0, 4)]
    with tenant_context(own.id):
        assert {row.id for row in StockLevel.objects.filter(tenant_id=own.id, is_untold=True)} == {levels[0]}
        assert StockPlace.objects.filter(tenant_id=own.id, tracks_stock=True).exists()
    refused(change(own, "A", status="released"), 409, "lot_recalled")
    assert change(shelf, status="quarantined").status_code == 200
    walk(shelf)
    assert lot_of(own, "A").status == "quarantined"
    assert broken(shelf, own) == []


def test_buyer_who_took_the_lot_in_before_the_supplier_had_it_is_told(shelf):
    tenant = factories.provision("provider")
    ward = Buyer(tenant, factories.as_member(tenant, ["receiving_clerk", "buyer"]))
    product = shelf.product(tracking="lot")
    shelf.offer(product)
    adjust(ward, line(product, place(ward), 10, lot_number="L1", expiry_date="2031-01-31"))
    shelf.stock(product, 5, lot="L1", expiry=date(2031, 1, 31))
    assert recall(shelf)["recall"]["progress"]["buyers_total"] == 1
    walk(shelf)
    lot = lot_of(ward)
    assert (lot.status, lot.origin_tenant_id, lot.origin_lot_id) == ("recalled", shelf.id, lot_of(shelf).id)
    assert [(one.data["received"], one.data["still_held"]) for one in facts(ward, "lot.")] == [(10, 10)]
    refused(change(ward, status="released"), 409, "lot_recalled")
    assert broken(shelf, ward) == []


# -- answers -----------------------------------------------------------------------------------------------------------


def told(shelf, buyer, quantity=3):
    product, *_ = shelved(shelf)
    reserve(buyer, shelf, (product, quantity))
    recall(shelf)
    walk(shelf)
    return notices(shelf)[0]


def test_answers_are_counted_and_told_to_the_supplier(shelf, buyer):
    notice = told(shelf, buyer)
    row = recalling.answer(buyer, notice.id, quantity_found=5, quantity_disposed=2, note="Ward 3")
    assert (row.status, row.quantity_found, row.quantity_disposed, row.note) == ("answered", 5, 2, "Ward 3")
    recalling.answer(buyer, notice.id, quantity_disposed=5, closed=True)
    assert progress(shelf) == {
        "buyers_total": 1, "buyers_told": 1, "buyers_answered": 1, "buyers_closed": 1, "quantity_found": 5,
        "quantity_disposed": 5,
    }  # fmt: skip
    answered = [one for one in facts(shelf) if one.type == "lot.recall_answered"]
    assert [(one.data["quantity_disposed"], one.data["closed"], one.data["by"]) for one in answered] == [
        (2, False, "buyer"), (5, True, "buyer"),
    ]  # fmt: skip
    assert "Ward" not in str([one.data for one in answered])
    assert {one.subject_kind for one in answered} == {"system"}
    (copy,) = received(buyer)
    assert (copy.status, copy.representation["recall_response"]["closed"]) == ("closed", True)
    assert broken(shelf, buyer) == []


def test_progress_is_part_of_the_tag(shelf, buyer):
    notice = told(shelf, buyer)
    before = change(shelf).headers["ETag"]
    recalling.answer(buyer, notice.id, quantity_found=1)
    assert change(shelf).headers["ETag"] != before
    refused(change(shelf, status="quarantined", api=_with_tag(shelf, '"1"')), 409, "version_conflict")


def _with_tag(shelf, tag):
    api = factories.Api()
    api.headers = shelf.api.headers | {"If-Match": tag}
    return api


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"quantity_disposed": 1}, "quantity_disposed"), ({"quantity_found": 1, "quantity_disposed": 2}, "quantity_disposed"),
        ({"closed": True}, "quantity_found"),
    ],
)  # fmt: skip
def test_bad_answers_change_nothing(shelf, buyer, data, field):
    notice = told(shelf, buyer)
    with pytest.raises(InvalidFields) as caught:
        recalling.answer(buyer, notice.id, **data)
    assert field in {one.field for one in caught.value.errors}
    assert (notices(shelf)[0].version, progress(shelf)["buyers_answered"]) == (notice.version, 0)


def test_only_the_buyer_who_was_told_answers(shelf, buyer, other):
    notice = told(shelf, buyer)
    with pytest.raises(NotFound):
        recalling.answer(other, notice.id, quantity_found=1)
    assert notices(shelf)[0].status == "told"


# -- withdrawal --------------------------------------------------------------------------------------------------------


def test_withdrawn_recall_is_told_and_may_be_issued_again(shelf, buyer, other):
    product, first, _ = shelved(shelf)
    for one in (buyer, other):
        reserve(one, shelf, (product, 2))
    recall(shelf)
    list_concerned(shelf)
    assert walk_one(shelf.id, clock.now())  # one buyer is told, the other not yet
    answer = change(shelf, status="quarantined", reason="False alarm")
    assert (answer.status_code, answer.json()["data"]["status"], answer.json()["data"]["recall"]) == (
        200, "quarantined", None,
    )  # fmt: skip
    assert shelf.level(first).reserved == 0
    walk(shelf)
    assert {row.status for row in notices(shelf)} == {"withdrawn"}
    seen = [[fact.type for fact in facts(one)] for one in (buyer, other)]
    assert sorted(seen) == [[], ["lot.recalled", "lot.quarantined"]]
    copies = [*received(buyer), *received(other)]
    assert [copy.status for copy in copies] == ["withdrawn"]
    with pytest.raises(InvalidTransition):
        recalling.answer(buyer if received(buyer) else other, copies[0].id, quantity_found=1)
    assert change(shelf, status="released").status_code == 200
    recall(shelf, reference="FSCA-15")
    assert [row.withdrawn_at is None for row in recalling.recalls(shelf)] == [False, True]
    assert broken(shelf, buyer, other) == []


def test_only_the_administrator_withdraws(shelf):
    shelved(shelf)
    recall(shelf)
    key = factories.Api(key=factories.api_key(shelf.tenant, ["supplier_integration"]), tenant=shelf.tenant)
    clerk = factories.as_member(shelf.tenant, ["supplier_user"])
    for api in (key, clerk):
        refused(change(shelf, api=api, status="quarantined"), 403, "withdrawal_not_permitted")
    assert lot_of(shelf).status == "recalled"
    assert change(shelf, status="quarantined").status_code == 200


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"status": "recalled"}, "recall.class", "required"),
        ({"status": "recalled", "recall": {"reference": "x"}}, "recall.class", "required"),
        ({"status": "recalled", "recall": {"class": "IV"}}, "recall.class", "invalid_choice"),
        ({"status": "recalled", "recall": {"class": "I", "progress": {}}}, "recall.progress", "unknown_field"),
        ({"status": "quarantined", "recall": {"class": "I"}}, "status", "required"),
        ({"recall": {"class": "I"}}, "status", "required"),
        ({"status": "recalled", "recall": {"class": "I"}, "reason": ""}, "reason", "blank"),
    ],
)
def test_bad_recalls_change_nothing(shelf, changes, field, code):
    shelved(shelf)
    assert (field, code) in products.field_errors(change(shelf, **changes))
    assert (lot_of(shelf).version, recalling.recalls(shelf), facts(shelf)) == (1, [], [])


def test_recalled_lot_takes_nothing_and_is_not_released(shelf, buyer):
    product, *_ = shelved(shelf)
    where = {"id": str(shelf.places["hall"])}
    recall(shelf)
    refused(change(shelf, status="released"), 409, "lot_recalled")
    more = line(product, where, 1, lot_number="L1")
    refused(shelf.api.post(ADJUST, json={"lines": [more]}), 409, "lot_recalled")
    assert (
        shelf.api.post(ADJUST, json={"lines": [more | {"quantity": -4, "reason_code": "destroyed"}]}).status_code == 201
    )
    (level,) = listed(shelf, LEVELS, "lot_number=L1")
    assert (level["on_hand"], level["sellable"]) == (6, 0)


def test_same_recall_again_changes_nothing_and_another_is_refused(shelf, buyer):
    told(shelf, buyer)
    again = recall(shelf)
    assert (again["version"], len(recalling.recalls(shelf))) == (2, 1)
    refused(change(shelf, status="recalled", recall=SAID | {"class": "I"}), 409, "lot_recalled")
    assert [row.recall_class for row in recalling.recalls(shelf)] == ["II"]


def test_void_reservation_is_not_extended(shelf, buyer):
    product, *_ = shelved(shelf)
    (made,) = reserve(buyer, shelf, (product, 2))
    recall(shelf)
    found = refused(buyer.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 900}), 409, "reservation_not_active")
    assert found["state"] == "broken"
    assert shelf.reservations()[0].extensions == 0


def test_quarantined_lot_can_be_recalled_and_strangers_see_none(shelf):
    shelved(shelf)
    assert change(shelf, status="quarantined").status_code == 200
    assert recall(shelf)["status"] == "recalled"
    stranger = factories.as_member(factories.provision("supplier"), ["supplier_admin"])
    assert change(shelf, api=stranger, status="recalled", recall=SAID).status_code == 404
    reader = factories.Api(key=factories.api_key(shelf.tenant, scopes=["inventory:read"]), tenant=shelf.tenant)
    refused(change(shelf, api=reader, status="recalled", recall=SAID), 403, "insufficient_scope")


def test_recalled_lot_is_set_apart_and_moves_nowhere_else(shelf, buyer):
    product, first, second = shelved(shelf)
    reserve(buyer, shelf, (product, 3))
    recall(shelf)
    walk(shelf)
    hall, other, apart = shelf.places["hall"], shelf.place("Hall 2"), shelf.place("Quarantine", sellable=False)

    def move(source, target, quantity, lot="L1"):
        lines = [{"product_id": product["id"], "lot_number": lot, "quantity": quantity}]
        body = {"from_location_id": str(source), "to_location_id": str(target), "lines": lines}
        return shelf.api.post("/v1/inventory/transfers", json=body)

    told = refused(move(hall, other, 4), 409, "lot_recalled")
    assert [one["field"] for one in told["errors"]] == ["lines.0.lot_number"]
    assert shelf.level(first).on_hand == 10
    sellable = shelf.api.get(f"/v1/products/{product['id']}?include=stock").json()["data"]["stock"]["sellable"]
    answer = move(hall, apart, 10)
    assert answer.status_code == 201, answer.content
    assert [(one["quantity"], one["on_hand"]) for one in answer.json()["data"]["lines"]] == [(-10, 0), (10, 10)]
    refused(move(apart, hall, 4), 409, "lot_recalled")
    refused(move(apart, other, 4), 409, "lot_recalled")
    assert move(apart, shelf.place("Cage", sellable=False), 4).status_code == 201
    assert sorted(one["on_hand"] for one in listed(shelf, LEVELS, "status=recalled")) == [0, 4, 6]
    stock = shelf.api.get(f"/v1/products/{product['id']}?include=stock").json()["data"]["stock"]
    assert (stock["sellable"], stock["on_hand"]) == (sellable, 20)
    assert shelf.level(second).on_hand == 10
    added = shelf.api.post(ADJUST, json={"lines": [line(product, {"id": str(apart)}, 1, lot_number="L1")]})
    refused(added, 409, "lot_recalled")
    assert broken(shelf, buyer) == []
