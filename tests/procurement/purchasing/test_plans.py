"""How PostgreSQL finds orders as the application's role: the lists of both sides, in the order of an index or by a filter's own."""

import json
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.http import QueryDict

from api.listing import cursor_call, page_call, read_query
from core.db import tenant_context
from core.ids import uuid7
from core.pipeline import Call, run
from organizations.models import Location
from procurement.purchasing.views import PurchaseOrderViewSet
from suppliers.orders.views import ReceivedOrderViewSet
from tests.factories import provision

ROWS = 6_000
PRODUCT = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
MODES = ["force_custom_plan", "force_generic_plan"]
_STATUS = "CASE n %% 100 WHEN 0 THEN 'sent' ELSE 'rejected' END"
_ORDERS = (
    "INSERT INTO suppliers_purchaseorder (id, tenant_id, created_at, updated_at, version, number, supplier_tenant_id, order_number,"
    " status, approval_for, proposed_by, before_change, fulfilment_status, billing_status, currency, delivery_location_id, incoterm,"
    " priority, substitution_policy, backorder_policy, notes_to_supplier, internal_note, budget_code, cost_center,"
    " external_reference, reservation_ids, authors, revision, net, gross, taxes, lines_total, price_differs, sent_at, shared_version)"
    " SELECT uuidv7(), %s, now() - n * interval '1 minute', now() - (n * 7919 %% 6000) * interval '1 minute', 1, 'PO-' || n,"
    f" (%s::uuid[])[n %% 40 + 1], 'SO-' || n, {_STATUS}, '', '', '', 'unfulfilled', 'not_invoiced', 'EUR', %s, '', 'routine',"
    " 'ask', 'accept', '', '', '', '', '', '[]', '[]', 1, 1, 1, '[]', 1, n %% 100 = 7, now(), 1 FROM generate_series(1, %s) n"
)
_COPIES = (
    "INSERT INTO suppliers_receivedorder (id, tenant_id, owner_tenant_id, number, status, version, representation, lines, received_at,"
    " updated_at, po_number, fulfilment_status, billing_status, priority) SELECT uuidv7(), %s, (%s::uuid[])[n %% 40 + 1], 'SO-' || n,"
    f" {_STATUS}, 1, '{{}}', '[]', now() - n * interval '1 minute', now() - (n * 7919 %% 6000) * interval '1 minute', 'PO-' || n,"
    " 'unfulfilled', 'not_invoiced', 'routine' FROM generate_series(1, %s) n"
)
_LINES = (
    "INSERT INTO suppliers_receivedorderline (id, tenant_id, document_id, line_no, product_id, backordered) SELECT uuidv7(), c.tenant_id,"
    " c.id, 1, CASE WHEN right(c.number, 2) = '11' THEN %s::uuid ELSE uuidv7() END, 0 FROM suppliers_receivedorder c"
    " WHERE c.tenant_id = %s"
)


@pytest.fixture(scope="module")
def parties() -> tuple[UUID, UUID, str]:
    """Return a buyer and a supplier with thousands of orders each, and one of their forty other parties."""
    buyer, supplier = provision("provider"), provision("supplier")
    others = [str(uuid7()) for _ in range(40)]
    with tenant_context(buyer.id):
        place = Location.objects.create(tenant_id=buyer.id, name="Ward 3", type="ward")
    owner = connections["owner"]
    with owner.cursor() as cursor:
        cursor.execute(_ORDERS, [buyer.id, others, place.id, ROWS])
        cursor.execute(_COPIES, [supplier.id, others, ROWS])
        cursor.execute(_LINES, [PRODUCT, supplier.id])
        cursor.execute(
            "ANALYZE suppliers_purchaseorder, suppliers_receivedorder, suppliers_receivedorderline, suppliers_documentword"
        )
    owner.close()
    return buyer.id, supplier.id, others[0]


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan] + [node for child in plan.get("Plans", ()) for node in _nodes(child)]


def _explained(tenant_id: UUID, call: Call, mode: str) -> list[dict[str, Any]]:
    """Explain a call, prepared as the service prepares it."""
    name = f"plan_{uuid7().hex}"
    with tenant_context(tenant_id), connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("hp_app",)
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
        cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode()}")
        marks = ", ".join(["%s"] * len(call.parameters))
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({marks})", list(call.parameters))
        answer = cursor.fetchone()[0]
        cursor.execute(f"DEALLOCATE {name}")
    return _nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])


def _is_found(nodes: list[dict[str, Any]], index: str) -> None:
    """Require that an index is read, and that no table of orders is read whole."""
    assert index in {node.get("Index Name") for node in nodes}, nodes
    scans = [node for node in nodes if node["Node Type"] == "Seq Scan"]
    assert not [node for node in scans if node["Relation Name"].startswith("suppliers_")], scans


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "suppliers_po_by_created"),
        ("from=2026-01-01", "suppliers_po_by_created"),
        ("to=2030-01-01", "suppliers_po_by_created"),
        ("status=sent", "suppliers_po_by_status"),
        ("supplier_id={other}", "suppliers_po_by_supplier"),
        ("price_differs=true", "suppliers_po_differing"),
        ("sort=-updated_at", "suppliers_po_by_updated"),
        ("sort=po_number", "suppliers_purchaseorder_number"),
        ("search=so-4711", "suppliers_documentword_pkey"),
        ("search=northwind 4711&status=sent", "suppliers_documentword_pkey"),
    ],
)
def test_purchase_orders_are_found_by_their_index(
    parties: tuple[UUID, UUID, str], query: str, index: str, mode: str
) -> None:
    buyer, _, other = parties
    asked = read_query(PurchaseOrderViewSet.listing, QueryDict(query.format(other=other)), "cursor")

    nodes = _explained(buyer, cursor_call(asked, buyer, after=None, limit=50), mode)

    _is_found(nodes, index)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "suppliers_recorder_by_time"),
        ("from=2026-01-01", "suppliers_recorder_by_time"),
        ("status=sent", "suppliers_recorder_by_status"),
        ("buyer_id={other}", "suppliers_recorder_by_owner"),
        ("product_id={product}", "suppliers_recorderline_product"),
        ("sort=-updated_at", "suppliers_recorder_by_updated"),
        ("sort=order_number", "suppliers_recorder_by_number"),
        ("search=po-4711", "suppliers_documentword_pkey"),
        ("search=northwind 4711&status=sent", "suppliers_documentword_pkey"),
    ],
)
def test_received_orders_are_found_by_their_index(
    parties: tuple[UUID, UUID, str], query: str, index: str, mode: str
) -> None:
    _, supplier, other = parties
    asked = read_query(ReceivedOrderViewSet.listing, QueryDict(query.format(other=other, product=PRODUCT)), "page")

    nodes = _explained(supplier, page_call(asked, supplier, page=1, limit=20), mode)

    _is_found(nodes, index)


def test_many_found_orders_are_walked_to_in_their_order(parties: tuple[UUID, UUID, str]) -> None:
    """A word of all 6,000: the page is the newest that there are, and the total is all."""
    buyer, supplier, _ = parties
    mine = cursor_call(
        read_query(PurchaseOrderViewSet.listing, QueryDict("search=po&fields=po_number"), "cursor"),
        buyer,
        after=None,
        limit=50,
    )
    theirs = page_call(
        read_query(ReceivedOrderViewSet.listing, QueryDict("search=so&fields=order_number"), "page"),
        supplier,
        page=2,
        limit=20,
    )
    with tenant_context(buyer):
        (found,) = run([mine])
    with tenant_context(supplier):
        (copies,) = run([theirs])

    numbers = [json.loads(found.value(row) or b"")["po_number"] for row in range(len(found))]
    assert numbers == [f"PO-{number}" for number in range(1, 52)]
    assert {copies.value(row) for row in range(len(copies))} == {b"6000"}
    assert len(copies) == 20
