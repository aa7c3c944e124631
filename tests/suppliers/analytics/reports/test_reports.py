"""Reports as clients see them: asked for, written, read, listed; each type in each format."""

import json
from typing import Any
from uuid import uuid4

import pytest

from core.clock import now
from core.db import tenant_context
from suppliers.analytics.reports.models import Report
from suppliers.files.models import File
from suppliers.tasks import carry_reports_on
from tests.factories import Api, api_key
from tests.procurement.purchasing.orders import Trade, submitted
from tests.suppliers.analytics.reports.asking import (
    PATH,
    ask,
    asked,
    carry_out,
    content,
    facts,
    finished,
    got,
    parts,
    read,
    used,
)
from tests.suppliers.analytics.test_metrics_of_stock import _listed
from tests.suppliers.deliveries.shipping import LATE, medicine, placed, shipped
from tests.suppliers.inventory.recalls import recall, walk
from tests.suppliers.inventory.shelf import Shelf, reserve

TYPES = ("orders", "stock", "movements", "prices", "recall_trace")
FORMATS = ("csv", "xlsx", "json")


@pytest.fixture
def shelf(trade: Trade) -> Shelf:
    return trade.shelf


def test_report_is_asked_for_written_and_read(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 700)
    api = trade.shelf.api
    before = used(trade.shelf.id)
    made = asked(api, "stock", "json", product_id=trade.gloves["id"])
    fresh = ("id", "as_of", "created_at", "updated_at")
    assert made | dict.fromkeys(fresh) == {
        **dict.fromkeys(fresh), "type": "stock", "parameters": {"product_id": trade.gloves["id"]}, "format": "json",
        "status": "queued", "rows_done": 0, "rows_total": None, "rows": None, "file_id": None, "error": None,
        "started_at": None, "finished_at": None, "expires_at": None, "version": 1,
    }  # fmt: skip
    assert made["as_of"] == made["created_at"]
    assert used(trade.shelf.id) == before + 1
    carry_reports_on()
    done = carry_out(api, made["id"])
    assert (done["status"], done["rows_done"], done["rows_total"], done["rows"]) == ("ready", 1, 1, 1)
    assert (done["error"], done["as_of"]) == (None, made["as_of"])
    assert None not in (done["started_at"], done["finished_at"], done["expires_at"])
    whole = json.loads(content(api, done["file_id"]))
    assert (whole["type"], whole["as_of"], whole["parameters"]) == ("stock", made["as_of"], made["parameters"])
    (row,) = whole["rows"]
    assert (row["supplier_sku"], row["on_hand"], row["location"]) == (trade.gloves["supplier_sku"], 700, "Hall 1")
    file = api.get(f"/v1/files/{done['file_id']}").json()["data"]
    assert (file["purpose"], file["status"], file["visibility"]) == ("report", "ready", "private")
    assert file["name"].startswith("stock-")
    assert file["name"].endswith(".json")
    assert parts(trade.shelf.id) == 0
    ((kind, told),) = facts(trade.shelf.id, made["id"])
    assert (kind, told) == (
        "report.completed", {"report_type": "stock", "format": "json", "rows": 1, "file_id": done["file_id"]},
    )  # fmt: skip


def _filled(trade: Trade) -> None:
    """Give each type of report something to tell."""
    shelf = trade.shelf
    _listed(trade, trade.gloves, "5.00", since=now().date())
    vials = medicine(trade)
    shelf.stock(trade.gloves, 5_000)
    shelf.stock(vials, 70, lot="L1", expiry=LATE)
    reserve(trade.buyer, shelf, (vials, 7))
    shipped(trade, placed(trade, (trade.gloves, 10)), 1_000)
    recall(shelf)
    while walk(shelf):
        pass


EXPECTED: dict[str, dict[str, Any]] = {
    "orders": {"ordered": 1000, "cancelled": 0, "shipped": 1000, "net": "49.00", "currency": "EUR", "line_no": 1},
    "stock": {"on_hand": 70, "lot_number": "L1", "lot_status": "recalled", "expiry_date": "2030-01-31"},
    "movements": {"type": "receipt", "quantity": 5000, "lot_number": None},
    "prices": {"unit_price": "5.00", "currency": "EUR", "min_quantity": 1, "price_list": None},
    "recall_trace": {"lot_number": "L1", "status": "told", "recall_class": "II", "quantity_found": None},
}


@pytest.mark.parametrize("form", FORMATS)
def test_each_type_is_written_in_each_format(trade: Trade, form: str) -> None:
    _filled(trade)
    for kind in TYPES:
        rows = [row for row in got(trade.shelf.api, kind, form) if kind != "stock" or row["lot_number"]]
        assert rows, kind
        for name, value in EXPECTED[kind].items():
            shown: Any = value
            if form == "csv":
                shown = "" if value is None else str(value)
            elif form == "xlsx" and value is not None:
                is_number = isinstance(value, int) or name in ("net", "unit_price")
                shown = float(value) if is_number else value
            assert rows[0][name] == shown, (kind, name)


@pytest.mark.parametrize("form", FORMATS)
def test_report_of_nothing_has_a_file_without_rows(shelf: Shelf, form: str) -> None:
    for kind in TYPES:
        parameter = "buyer_id" if kind in ("orders", "recall_trace") else "product_id"
        assert got(shelf.api, kind, form, **{parameter: str(uuid4())}) == []


def test_parameters_narrow_the_rows(trade: Trade) -> None:
    shelf, api = trade.shelf, trade.shelf.api
    away = shelf.place("Hall 2")
    shelf.stock(trade.gloves, 2_000)
    shelf.stock(trade.masks, 50, place=away)
    for product in (trade.gloves, trade.masks):
        submitted(trade, (product, 1))
    assert [row["product_id"] for row in got(api, "orders", product_id=trade.masks["id"])] == [trade.masks["id"]]
    assert len(got(api, "orders", buyer_id=str(trade.buyer.id), status=["sent"])) == 2
    assert got(api, "orders", status=["accepted", "closed"]) == []
    assert [row["on_hand"] for row in got(api, "stock", location_id=str(away))] == [50]
    assert [row["quantity"] for row in got(api, "movements", location_id=str(away), movement_type=["receipt"])] == [50]
    assert len(got(api, "stock", product_id=trade.gloves["id"])) == 1
    assert got(api, "stock", expires_before="2199-01-01") == []
    assert got(api, "orders", begin="2199-01-01") == []


def test_parameters_narrow_movements_and_prices(trade: Trade) -> None:
    shelf, api = trade.shelf, trade.shelf.api
    for product in (trade.gloves, trade.masks):
        shelf.stock(product, 50)
    assert got(api, "movements", movement_type=["shipment", "count"]) == []
    assert got(api, "movements", to="2020-01-01") == []
    assert len(got(api, "movements", begin="2020-01-01", to="2199-01-01T00:00:00+02:00")) == 2
    assert got(api, "prices", currency="CHF") == []
    _listed(trade, trade.masks, "1.25", since=now().date())
    assert [row["unit_price"] for row in got(api, "prices", product_id=trade.masks["id"])] == ["1.25"]
    assert got(api, "prices", on="2020-01-01") == []


def test_list_is_paged_filtered_and_sorted(shelf: Shelf) -> None:
    made = [
        asked(shelf.api, kind, form)["id"] for kind, form in (("stock", "csv"), ("prices", "xlsx"), ("stock", "json"))
    ]
    first = shelf.api.get(f"{PATH}?limit=2").json()["data"]
    assert ([one["id"] for one in first["items"]], first["total"]) == (made[:0:-1], 3)
    second = shelf.api.get(f"{PATH}?limit=2&page=2").json()["data"]
    assert [one["id"] for one in second["items"]] == made[:1]
    for query, expected in (
        ("type=stock", [made[2], made[0]]),
        ("type=prices,orders", [made[1]]),
        ("format=xlsx,csv&sort=created_at", made[:2]),
        ("status=ready,failed", []),
        ("status=queued&type=stock&format=json", [made[2]]),
        ("to=2020-01-01", []),
        ("from=2020-01-01&sort=created_at", made),
        ("updated_since=2020-01-01T00:00:00Z&sort=updated_at", made),
    ):
        found = shelf.api.get(f"{PATH}?{query}").json()["data"]["items"]
        assert [one["id"] for one in found] == expected, query
    for query in ("type=payroll", "status=,", "format=pdf", "from=yesterday"):
        assert shelf.api.get(f"{PATH}?{query}").json()["code"] == "validation_error", query
    assert shelf.api.get(f"{PATH}?kind=stock").json()["code"] == "unknown_parameter"


def test_one_key_asks_for_one_report(trade: Trade) -> None:
    api = Api(key=api_key(trade.shelf.tenant), tenant=trade.shelf.tenant)
    key, before = str(uuid4()), used(trade.shelf.id)
    answers = [ask(api, "stock", headers={"Idempotency-Key": key}) for _ in range(3)]
    assert [one.status_code for one in answers] == [202] * 3
    assert len({one.json()["data"]["id"] for one in answers}) == 1
    assert [one.headers["Location"] for one in answers] == [f"{PATH}/{answers[0].json()['data']['id']}"] * 3
    assert answers[2].headers["Idempotency-Replayed"] == "true"
    assert used(trade.shelf.id) == before + 1
    other = ask(api, "prices", headers={"Idempotency-Key": key})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    with tenant_context(trade.shelf.id):
        assert Report.objects.filter(tenant_id=trade.shelf.id).count() == 1


def test_reports_of_one_content_share_a_file(shelf: Shelf) -> None:
    one, two = (asked(shelf.api, "prices") for _ in range(2))
    assert finished(shelf.api, one) == finished(shelf.api, two) == []
    assert read(shelf.api, one["id"])["file_id"] == read(shelf.api, two["id"])["file_id"]
    with tenant_context(shelf.id):
        assert File.objects.filter(tenant_id=shelf.id).count() == 1


def test_progress_changes_the_tag_of_the_answer(trade: Trade) -> None:
    api, made = trade.shelf.api, asked(trade.shelf.api, "prices")
    first = api.get(f"{PATH}/{made['id']}")
    tag = first.headers["ETag"]
    assert api.get(f"{PATH}/{made['id']}", headers={"If-None-Match": tag}).status_code == 304
    carry_out(api, made["id"])
    assert api.get(f"{PATH}/{made['id']}", headers={"If-None-Match": tag}).status_code == 200
