"""Reports that are refused, and whom they are hidden from; nothing is made, and nothing is counted."""

from typing import Any
from uuid import uuid4

import pytest

from core.db import tenant_context
from suppliers.analytics.reports.models import Report
from tests.factories import Api, as_member, bearer, member, provision
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.reports.asking import (
    PATH,
    ask,
    asked,
    carry_out,
    content,
    finished,
    got,
    limited,
    read,
    used,
)
from tests.suppliers.inventory.shelf import refused, shelf


def _nothing_made(tenant_id: Any) -> bool:
    with tenant_context(tenant_id):
        return not Report.objects.filter(tenant_id=tenant_id).exists()


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({}, "type", "required"),
        ({"type": "payroll"}, "type", "invalid_choice"),
        ({"type": "orders", "format": "pdf"}, "format", "invalid_choice"),
        ({"type": "orders", "parameters": []}, "parameters", "invalid"),
        ({"type": "orders", "as_of": "2026-01-01"}, "as_of", "unknown_field"),
        ({"type": "orders", "parameters": {"form": "2026-01-01"}}, "parameters.form", "unknown_field"),
        ({"type": "orders", "parameters": {"from": "yesterday"}}, "parameters.from", "moment"),
        ({"type": "orders", "parameters": {"from": "2026-01-01T00:00:00"}}, "parameters.from", "moment"),
        ({"type": "orders", "parameters": {"from": "0001-01-01"}}, "parameters.from", "moment"),
        ({"type": "orders", "parameters": {"from": "2026-02-01", "to": "2026-01-01"}}, "parameters.to", "min_value"),
        (
            {"type": "orders", "parameters": {"from": "2026-02-01T12:00:00Z", "to": "2026-02-01T10:00:00Z"}},
            "parameters.to",
            "min_value",
        ),
        ({"type": "orders", "parameters": {"status": ["draft"]}}, "parameters.status.0", "invalid_choice"),
        ({"type": "orders", "parameters": {"buyer_id": "me"}}, "parameters.buyer_id", "invalid"),
        ({"type": "orders", "parameters": {"currency": "EUR"}}, "parameters.currency", "not_applicable"),
        ({"type": "stock", "parameters": {"from": "2026-01-01"}}, "parameters.from", "not_applicable"),
        ({"type": "stock", "parameters": {"expires_before": "soon"}}, "parameters.expires_before", "invalid"),
        (
            {"type": "movements", "parameters": {"movement_type": ["theft"]}},
            "parameters.movement_type.0",
            "invalid_choice",
        ),
        ({"type": "movements", "parameters": {"movement_type": []}}, "parameters.movement_type", "min_length"),
        ({"type": "prices", "parameters": {"currency": "XYZ"}}, "parameters.currency", "unknown_currency"),
        ({"type": "prices", "parameters": {"location_id": str(uuid4())}}, "parameters.location_id", "not_applicable"),
        ({"type": "recall_trace", "parameters": {"status": ["sent"]}}, "parameters.status", "not_applicable"),
    ],
)
def test_faulty_wish_is_refused(trade: Trade, body: dict[str, Any], field: str, code: str) -> None:
    before = used(trade.shelf.id)
    expected = code if code == "unknown_field" else "validation_error"
    found = refused(trade.shelf.api.post(PATH, json=body), 400, expected)
    assert (field, code) in [(one["field"], one["code"]) for one in found["errors"]], found
    assert _nothing_made(trade.shelf.id)
    assert used(trade.shelf.id) == before


@pytest.mark.parametrize(
    ("role", "kinds", "scope"),
    [
        ("supplier_marketplace", ["orders"], "orders:read"),
        ("supplier_pricing", ["stock", "movements", "recall_trace"], "inventory:read"),
    ],
)
def test_report_needs_the_scope_of_its_data(trade: Trade, role: str, kinds: list[str], scope: str) -> None:
    api = as_member(trade.shelf.tenant, [role])
    for kind in kinds:
        answer = ask(api, kind)
        found = refused(answer, 403, "insufficient_scope")
        assert found["required"] == [scope]
        assert scope in answer.headers["WWW-Authenticate"]
    assert _nothing_made(trade.shelf.id)
    assert used(trade.shelf.id) == 0
    assert ask(api, "prices").status_code == 202


def test_report_needs_analytics(trade: Trade) -> None:
    made = asked(trade.shelf.api, "stock")
    api = as_member(trade.shelf.tenant, ["supplier_warehouse"])
    for answer in (ask(api, "stock"), api.get(PATH), api.get(f"{PATH}/{made['id']}")):
        assert refused(answer, 403, "insufficient_scope")["required"] == ["analytics:read"]
    free = provision("supplier", plan="free")
    assert refused(ask(as_member(free, ["supplier_admin"]), "stock"), 403, "feature_not_enabled")
    buyer = as_member(trade.buyer.tenant, ["integration_service"])
    refused(ask(buyer, "stock"), 403, "not_a_supplier")


def test_reports_count_as_exports_of_the_day(trade: Trade) -> None:
    shelf, api = trade.shelf, trade.shelf.api
    asked(api, "stock")
    limited(shelf.id, "exports_per_day", 2)
    asked(api, "prices")
    refused(ask(api, "stock"), 403, "quota_exceeded")
    assert (used(shelf.id), api.get(PATH).json()["data"]["total"]) == (2, 2)


def test_nobody_finds_reports_or_goods_of_another_tenant(trade: Trade) -> None:
    mine, other = trade.shelf, shelf()
    mine.stock(trade.gloves, 300)
    made = asked(mine.api, "stock")
    refused(other.api.get(f"{PATH}/{made['id']}"), 404, "not_found")
    refused(other.api.get(f"{PATH}/{uuid4()}"), 404, "not_found")
    assert other.api.get(PATH).json()["data"]["total"] == 0
    for kind in ("stock", "movements", "prices", "orders", "recall_trace"):
        assert got(other.api, kind, product_id=trade.gloves["id"]) == [], kind
    file_id = carry_out(mine.api, made["id"])["file_id"]
    refused(other.api.get(f"/v1/files/{file_id}"), 404, "not_found")


def test_limited_membership_gets_and_sees_its_locations(trade: Trade) -> None:
    away = trade.shelf.place("Hall 2")
    trade.shelf.stock(trade.gloves, 100)
    trade.shelf.stock(trade.masks, 7, place=away)
    person, _ = member(trade.shelf.tenant, ["supplier_admin"], location_ids=[away])
    api = Api(token=bearer(person), tenant=trade.shelf.tenant)
    mine = {kind: asked(api, kind, "json") for kind in ("stock", "movements", "prices")}
    assert [row["on_hand"] for row in finished(api, mine["stock"])] == [7]
    assert [row["quantity"] for row in finished(api, mine["movements"])] == [7]
    whole = asked(trade.shelf.api, "stock", "json")
    assert {row["on_hand"] for row in finished(trade.shelf.api, whole)} == {100, 7}
    refused(api.get(f"{PATH}/{whole['id']}"), 404, "not_found")
    assert {one["id"] for one in api.get(PATH).json()["data"]["items"]} == {one["id"] for one in mine.values()}
    seen = api.get(f"/v1/files/{read(trade.shelf.api, whole['id'])['file_id']}").json()["data"]
    assert (seen["status"], seen["content_url"]) == ("ready", None)
    assert content(trade.shelf.api, read(api, mine["stock"]["id"])["file_id"])


def test_file_is_read_by_holders_of_the_scope_of_its_data(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 100)
    done = {kind: carry_out(trade.shelf.api, asked(trade.shelf.api, kind)["id"]) for kind in ("stock", "prices")}
    for role, expected in (
        ("supplier_warehouse", {"stock": True, "prices": False}),
        ("supplier_pricing", {"stock": False, "prices": True}),
        ("supplier_catalog", {"stock": False, "prices": False}),
        ("supplier_read_only", {"stock": True, "prices": True}),
    ):
        api = as_member(trade.shelf.tenant, [role])
        for kind, is_open in expected.items():
            file_id = done[kind]["file_id"]
            found = api.get(f"/v1/files/{file_id}").json()["data"]
            assert (found["content_url"] is not None) is is_open, (role, kind)
            listed = {one["id"]: one for one in api.get("/v1/files").json()["data"]["items"]}[file_id]
            assert (listed["content_url"] is not None) is is_open, (role, kind)
    clerk = as_member(trade.shelf.tenant, ["supplier_catalog"])
    path = f"/v1/files/{done['prices']['file_id']}"
    for body in (
        {"visibility": "catalog"},
        {"bindings": [{"resource_type": "product", "resource_id": trade.gloves["id"]}]},
    ):
        assert refused(clerk.patch(path, json=body), 409, "file_bound")["bound_to"] == ["report"]
    assert refused(clerk.delete(path), 409, "file_bound")["bound_to"] == ["report"]
    renamed = clerk.patch(path, json={"title": "Prices of today"})
    assert (renamed.status_code, renamed.json()["data"]["content_url"]) == (200, None)
