"""No table that may name a supplier is forgotten by a merge."""

from typing import Any

from django.apps import apps
from django.db import models

from core.row_security import security_of
from organizations.public import received_kinds
from suppliers.agreements.models import AGREEMENTS
from suppliers.deliveries.receipt_models import Receipt
from suppliers.deliveries.shipment_models import ShipmentDraft
from suppliers.merging.tables import COLUMN, LOCKED, MOVED, NUMBERED, OF_RELATIONSHIP, SORTS
from suppliers.orders.models import PurchaseOrder
from suppliers.relationships.models import ManagedRegistration, ManagedSupplier, Relationship

# Columns of tenants that are no supplier's, or that a supplier without products and users is never in.
OTHERS = {
    "buyer_tenant_id": "the other party of what a supplier owns",
    "owner_tenant_id": "the owner of a copy; a managed supplier owns nothing that is handed over",
    "member_tenant_id": "a buyer who sees an offer or a price",
    "from_tenant_id": "who has written a message; nobody writes for a managed supplier",
    "origin_tenant_id": "whose lot it is; a managed supplier has none",
    "product_tenant_id": "whose product it is; a managed supplier has none",
    "buyer_id": "a buyer",
    "seller_id": "none yet",
}
HANDLED = {
    *((model, COLUMN) for model in MOVED), (Receipt, COLUMN), (Relationship, "supplier_id"),
    *((model, "supplier_id") for model in OF_RELATIONSHIP), (ManagedSupplier, "supplier_id"),
    (ManagedRegistration, "supplier_id"),
}  # fmt: skip
BY_TRIGGER = {("suppliers_documentword", "party_id")}


def _columns(model: Any) -> list[str]:
    ids = (models.UUIDField, models.ForeignKey)
    own = security_of(model).tenant_column
    words = ("supplier", "tenant", "party", "seller", "buyer", "vendor")
    return [
        field.column
        for field in model._meta.concrete_fields
        if isinstance(field, ids) and field.column != own and any(word in field.column for word in words)
    ]


def test_every_column_that_may_name_a_supplier_is_moved_or_explained() -> None:
    trade = [model for model in apps.get_models() if model._meta.app_label in ("suppliers", "procurement")]
    found = {(model, column) for model in trade for column in _columns(model)}
    left = {
        (model._meta.db_table, column) for model, column in found - HANDLED if column not in OTHERS
    } - BY_TRIGGER  # fmt: skip
    assert left == set()
    assert HANDLED - found == set()


def test_every_document_of_a_buyer_with_a_supplier_is_moved_and_handed_over() -> None:
    kinds = {kind for kind in received_kinds() if kind.party == f"t.{COLUMN}"}
    assert {one.kind for one in SORTS} == kinds
    documents = {kind.document for kind in kinds}
    assert documents - {Receipt} <= {*LOCKED}
    assert Receipt not in MOVED
    assert AGREEMENTS in kinds


def test_every_column_with_the_number_of_an_order_is_written_anew() -> None:
    owned = {
        model
        for model in apps.get_models()
        if any(field.column == "order_number" for field in model._meta.concrete_fields)
        and not model.__name__.startswith("Received")
    }
    # A draft of a shipment is the supplier's; a managed one prepares nothing.
    assert owned == {PurchaseOrder, *NUMBERED, ShipmentDraft}
