"""What goes past the triggers that keep search terms and totals of orders: found by `prove_invariants`."""

import pytest
from django.db import connections

from core.invariants import Breach
from suppliers.orders.search_proof import RULE, breaches
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.deliveries.shipping import placed, shipped

_OF_ORDER = "tenant_id = %(buyer)s AND kind = 'purchase_order'"
FAULTS = {
    "a term that is missing": f"DELETE FROM suppliers_documentword WHERE {_OF_ORDER} AND word = 'so'",
    "a term that the order has not": (
        "INSERT INTO suppliers_documentword (tenant_id, kind, word, document_id, party_id) SELECT tenant_id, kind, 'other',"
        f" document_id, party_id FROM suppliers_documentword WHERE {_OF_ORDER} AND word = 'so'"
    ),
    "a term of another party": (
        f"UPDATE suppliers_documentword SET party_id = tenant_id WHERE {_OF_ORDER} AND word = 'po'"
    ),
    "a term of what is gone": (
        "INSERT INTO suppliers_documentword (tenant_id, kind, word, document_id, party_id) VALUES (%(shelf)s, 'order', 'so',"
        " gen_random_uuid(), %(buyer)s)"
    ),
    "a delivery's term that is missing": (
        "DELETE FROM suppliers_documentword WHERE tenant_id = %(shelf)s AND kind = 'delivery' AND word = 'jd014'"
    ),
    "a total that drifted": "UPDATE suppliers_receivedordercounter SET orders = orders + 1 WHERE tenant_id = %(shelf)s",
    "a total that is gone": "DELETE FROM suppliers_receivedordercounter WHERE tenant_id = %(shelf)s",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(trade: Trade, fault: str) -> None:
    trade.shelf.stock(trade.masks, 5)
    shipped(trade, placed(trade, (trade.masks, 5)), 2, tracking_number="JD014 600")
    trade.stored()
    with connections["owner"].cursor() as cursor:
        cursor.execute(FAULTS[fault], {"buyer": trade.buyer.id, "shelf": trade.shelf.id})
        assert cursor.rowcount == 1

    found: list[Breach] = [*breaches(trade.buyer.id), *breaches(trade.shelf.id)]

    table = "suppliers_receivedordercounter" if "total" in fault else "suppliers_documentword"
    assert [(one.rule, one.table) for one in found] == [(RULE, table)]
