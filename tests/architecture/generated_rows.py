"""Rows of any model, drawn by its fields and inserted as the database takes them; for the test of representations.

A model whose rules its fields do not tell (a check between columns that chance seldom meets) has an entry in `RULES`.
"""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import IntegrityError, connections, models, transaction
from hypothesis import strategies as st
from psycopg.errors import CheckViolation, UniqueViolation

from api.representations import Computed, Representation, Rows
from appointments.models import Appointment
from appointments.states import REMINDED, CancelReason, Status
from core.clock import rfc3339
from core.row_security import security_of
from fhir_api.access.models import AccessRecord
from organizations.models import ApiKey, Location, Membership, Tenant, User
from prescriptions.dispensing.models import Dispensation, DispensationLine
from prescriptions.lifecycle.copies import ReceivedPrescription
from prescriptions.lifecycle.models import Prescription, PrescriptionItem, Route
from prescriptions.medications.models import PlatformMedication, TenantMedication
from prescriptions.recurring.models import RecurringTreatment
from procurement.budgets.models import Budget
from suppliers.agreements.models import PriceAgreement, PriceAgreementLine
from suppliers.agreements.states import ACCEPTED, AgreementStatus
from suppliers.analytics.reports.models import Report
from suppliers.catalog.models import AttributeDefinition, Packaging, Product
from suppliers.company.models import SupplierProfile
from suppliers.deliveries.models import Delivery, DeliveryLine, DeliveryPackageLine
from suppliers.deliveries.receipt_models import ReceiptLine
from suppliers.deliveries.states import OF_DELIVERY, RejectionReason
from suppliers.files.models import File
from suppliers.inventory.dispensing.models import DispenseBooking
from suppliers.inventory.items.models import StockItem
from suppliers.inventory.models import Lot, StockLevel, StockMovement, StockPlace
from suppliers.invoices.models import Invoice, InvoiceLine
from suppliers.invoices.states import DisputeReason, InvoiceStatus, MatchResult
from suppliers.marketplace.models import Offer
from suppliers.marketplace.states import EVERYBODY
from suppliers.notifications.models import Notification, NotificationPreference
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine, ReceivedOrder
from suppliers.orders.proposals.models import OrderChange
from suppliers.orders.states import ApprovalFor, OrderStatus, Party
from suppliers.payments.models import CreditSource, Payment, PaymentAllocation
from suppliers.payments.states import FINAL, OF_OFFSET, PaymentMethod, PaymentStatus
from suppliers.relationships.models import Relationship
from suppliers.relationships.states import Block
from suppliers.returns.models import Return, ReturnLine
from suppliers.returns.states import STORED
from suppliers.terms.models import MOST_PRIORITY, PriceList, PricingRule
from suppliers.terms.promotions.models import Promotion
from webhooks.models import Event, Replay

ALIAS = "platform"
TRIES = 40
LARGEST = 10**15  # so that a sum of some of them is a bigint still

Draw = Callable[[st.SearchStrategy[Any]], Any]
Values = dict[str, Any]

TEXT = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
INSTANTS = st.datetimes(datetime(1901, 1, 1), datetime(2999, 1, 1), timezones=st.just(UTC))
RECENT = st.datetimes(datetime.now() - timedelta(days=20), datetime.now() - timedelta(days=1), timezones=st.just(UTC))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(-1e9, 1e9) | st.text(TEXT, max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(TEXT, max_size=4), inner, max_size=3),
    max_leaves=5,
)


def _decimals(field: Any) -> st.SearchStrategy[Any]:
    most = 10 ** (field.max_digits - field.decimal_places) - 1
    return st.decimals(-most, most, places=field.decimal_places, allow_nan=False)


def _integers(field: Any) -> st.SearchStrategy[Any]:
    least, most = connections[ALIAS].ops.integer_field_range(field.get_internal_type())
    return st.integers(0, 9) | st.integers(max(least, -LARGEST), min(most, LARGEST))


BY_TYPE: dict[type, Callable[[Any], st.SearchStrategy[Any]]] = {
    models.BooleanField: lambda _: st.booleans(),
    models.CharField: lambda field: st.text(TEXT, max_size=min(field.max_length or 20, 20)),
    models.TextField: lambda _: st.text(TEXT, max_size=20),
    models.UUIDField: lambda _: st.uuids(),
    models.DateTimeField: lambda _: INSTANTS,
    models.TimeField: lambda _: st.times().map(lambda one: one.replace(second=0, microsecond=0)),
    models.DateField: lambda _: st.dates(date(1901, 1, 1), date(2999, 1, 1)),
    models.DurationField: lambda _: st.timedeltas(timedelta(0), timedelta(days=900)),
    models.DecimalField: _decimals,
    models.FloatField: lambda _: st.floats(-1e9, 1e9),
    models.IntegerField: _integers,
    models.BinaryField: lambda _: st.binary(max_size=20),
    models.GenericIPAddressField: lambda _: st.ip_addresses().map(str),
    models.JSONField: lambda _: JSON.filter(lambda value: value is not None),
    # The simplest example, which hypothesis begins with, is not the empty list: many tables forbid it.
    ArrayField: lambda field: st.lists(strategy_of(field.base_field), min_size=1, max_size=3) | st.just([]),
}


@lru_cache
def strategy_of(field: Any) -> st.SearchStrategy[Any]:
    """What a column may hold.

    :raises LookupError: a type of field that nothing is known of: extend `BY_TYPE`.
    """
    bound = _bounds(field.model).get(field.attname) if hasattr(field, "model") else None
    if bound is not None:
        found: st.SearchStrategy[Any] = bound
    elif field.flatchoices:
        found = st.sampled_from([value for value, _ in field.flatchoices])
    else:
        kind = next((one for one in type(field).__mro__ if one in BY_TYPE), None)
        if kind is None:
            raise LookupError(f"{field}: no strategy for a {type(field).__name__}")
        found = BY_TYPE[kind](field)
    return st.none() | found if field.null else found


@lru_cache
def _bounds(model: type[models.Model]) -> dict[str, st.SearchStrategy[Any]]:
    """What the checks of a table say of single columns: one of a list, or within a range."""
    found: dict[str, st.SearchStrategy[Any]] = {}
    for constraint in model._meta.constraints:
        for name, value in _leaves(getattr(constraint, "condition", None)):
            column, _, lookup = name.rpartition("__")
            if lookup == "in":
                found[column] = st.sampled_from(list(value))
            elif lookup == "range":
                found[column] = st.integers(*value)
    return found


def _leaves(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, tuple):
        yield node
    elif isinstance(node, models.Q) and not node.negated:
        for child in node.children:
            yield from _leaves(child)


def _product(draw: Draw, values: Values) -> None:
    """The status and the instant go together, a range of temperatures has a lower end, and attributes are a list."""
    values["archived_at"] = draw(INSTANTS) if values["status"] == "archived" else None
    values["held_at"] = None if values["status"] == "active" else values["held_at"]
    values["attributes"] = values["attributes"] if isinstance(values["attributes"], list) else [values["attributes"]]
    ends = sorted(draw(st.lists(st.decimals(-99, 99, places=1), min_size=2, max_size=2, unique=True)))
    values["storage_min_c"], values["storage_max_c"] = (draw(st.none() | st.just(end)) for end in ends)


def _packaging(draw: Draw, values: Values) -> None:
    """Quantities are one at least, and the greatest is none below the least."""
    for name in ("units_per_pack", "min_order_quantity", "order_increment"):
        values[name] = values[name] or 1
    if values["max_order_quantity"] is not None:
        values["max_order_quantity"] = max(values["min_order_quantity"], values["max_order_quantity"])


def _tenant(draw: Draw, values: Values) -> None:
    """A tenant that no buyer manages, and that is not merged."""
    values["managed_by_id"] = values["merged_into_id"] = None


def _relationship(draw: Draw, values: Values) -> None:
    """A blocked relationship blocks everything."""
    blocks = Block.values
    some = draw(st.lists(st.sampled_from(blocks), unique=True))
    values["blocks"] = blocks if values["status"] == "blocked" else some


def _user(draw: Draw, values: Values) -> None:
    """An address is in lower case, and nobody else's."""
    values["email"] = f"{draw(st.uuids()).hex}@people.example"


def _replay(draw: Draw, values: Values) -> None:
    """A replay covers a stretch of time."""
    values["since"], values["until"] = sorted(draw(st.lists(INSTANTS, min_size=2, max_size=2, unique=True)))


def _event(draw: Draw, values: Values) -> None:
    """The body is the envelope."""
    envelope = {
        "timestamp": rfc3339(draw(RECENT)),
        "sequence": draw(st.from_regex(r"[0-9]{15}", fullmatch=True)),
        "test": draw(st.booleans()),
        "data": {"object": draw(JSON)},
    }
    values["body"] = json.dumps(envelope).replace("\\u0000", "").encode()


def _membership(draw: Draw, values: Values) -> None:
    """A membership is of a person or of a service account, and ends after it begins."""
    values[draw(st.sampled_from(EITHER[Membership]))] = None
    if values["valid_from"] and values["valid_until"]:
        values["valid_from"], values["valid_until"] = sorted(
            draw(st.lists(INSTANTS, min_size=2, max_size=2, unique=True))
        )


def _api_key(draw: Draw, values: Values) -> None:
    """A key has an id of its own, and one that is being rotated an end."""
    values["key_id"] = draw(st.uuids()).hex[:8]
    values["overlap_ends_at"] = draw(INSTANTS) if values["status"] == "rotating" else values["overlap_ends_at"]


def _medication(draw: Draw, values: Values) -> None:
    """A code names one medication of its system, in either table."""
    values["code"] = draw(st.uuids()).hex


def _appointment(draw: Draw, values: Values) -> None:
    """An appointment lasts minutes to a day, is reminded of while it is due, and has a reason if it was cancelled."""
    values["ends_at"] = values["starts_at"] + draw(st.timedeltas(timedelta(minutes=5), timedelta(days=1)))
    values["status"] = status = draw(st.sampled_from(Status.values))
    values["cancel_reason_code"] = draw(st.sampled_from(CancelReason.values)) if status == Status.CANCELLED else ""
    values["next_reminder_at"] = values["next_reminder_at"] if status in REMINDED else None


def _prescription(draw: Draw, values: Values) -> None:
    """A prescription that is not signed yet, so that its items may still come, or one that was cancelled before."""
    values["status"] = draw(st.sampled_from(["draft", "clinically_validated", "cancelled"]))
    values["cancelled_at"] = draw(INSTANTS) if values["status"] == "cancelled" else None
    values["snapshot_id"] = None


def _prescription_item(draw: Draw, values: Values) -> None:
    """Of an item no more is dispensed than was prescribed."""
    values["quantity_value"] = draw(st.decimals(Decimal("0.0001"), Decimal(9_000), places=4))
    values["fills_allowed"] = draw(st.integers(1, 99))
    values["fills_used"] = draw(st.integers(0, values["fills_allowed"]))
    values["dispensed_quantity"] = draw(st.sampled_from([Decimal(0), values["quantity_value"]]))


def _route(draw: Draw, values: Values) -> None:
    """At most one route is live."""
    values["state"] = draw(st.sampled_from(["superseded", "returned", "rejected"]))


def _received_prescription(draw: Draw, values: Values) -> None:
    """A copy is shown while its route is live."""
    values["route_state"] = draw(st.sampled_from(["sent", "acknowledged"]))


def _access_record(draw: Draw, values: Values) -> None:
    """A read of prescriptions."""
    values["interaction"] = draw(st.sampled_from(["rx.read", "rx.verify", "rx.export"]))


def _dispensation(draw: Draw, values: Values) -> None:
    """A reversed dispensation says when."""
    values["status"] = draw(st.sampled_from(["completed", "reversed"]))
    values["reversed_at"] = draw(INSTANTS) if values["status"] == "reversed" else None


def _dispensation_line(draw: Draw, values: Values) -> None:
    """A quantity was handed over, or there is a reason why none was."""
    given = draw(st.booleans())
    values["quantity"] = draw(st.decimals(Decimal("0.0001"), Decimal(9_000), places=4)) if given else None
    values["not_dispensed_reason"] = "" if given else "out_of_stock"


def _location(draw: Draw, values: Values) -> None:
    """A location has a zone that there is, or the tenant's."""
    values["time_zone"] = ("", "Europe/Oslo", "Pacific/Apia")[len(values["name"]) % 3]


def _attribute_definition(draw: Draw, values: Values) -> None:
    """A code of its own; the type enum has choices, and only texts differ by language."""
    values["code"] = draw(st.uuids()).hex
    values["type"] = draw(st.sampled_from(["text", "quantity", "enum"]))
    values["allowed_values"] = ["one", "two"] if values["type"] == "enum" else []
    values["localizable"] = values["type"] == "text"


def _movement(draw: Draw, values: Values) -> None:
    """A movement moves something, and no balance is below nothing."""
    values["quantity"] = values["quantity"] or 1
    values["balance_after"] = abs(values["balance_after"])


def _level(draw: Draw, values: Values) -> None:
    """No more is reserved than is on hand."""
    values["reserved"], values["on_hand"] = sorted((values["reserved"], values["on_hand"]))


def _stock_item(draw: Draw, values: Values) -> None:
    """A supplier's product, of which a snapshot is kept."""
    values["own_product_id"], values["product_tenant_id"] = None, draw(st.uuids())
    values["supplier_sku"], values["base_unit"], values["tracking"] = "SKU", "EA", "lot"


def _dispense_booking(draw: Draw, values: Values) -> None:
    """What was not booked says why."""
    values["status"], values["reason"] = "unbooked", "fraction"
    values["level_id"] = values["movement_id"] = None


def _lot(draw: Draw, values: Values) -> None:
    """The origin is another tenant's lot, or there is none."""
    values["origin_tenant_id"] = draw(st.none() | st.uuids())
    values["origin_lot_id"] = values["origin_tenant_id"] and draw(st.uuids())


def _stock_place(draw: Draw, values: Values) -> None:
    """A range of temperatures has a lower end."""
    ends = sorted(draw(st.lists(st.decimals(-99, 99, places=1), min_size=2, max_size=2, unique=True)))
    values["min_c"], values["max_c"] = (draw(st.none() | st.just(end)) for end in ends)
    values["license_types"] = draw(st.lists(st.text(TEXT, max_size=4), max_size=2))


def _term(draw: Draw, values: Values) -> None:
    """Terms under a code of their own, in a period that is not empty."""
    values["code"] = str(values["id"])
    values["priority"] %= MOST_PRIORITY + 1
    if values.get("valid_from") and values["valid_to"] and values["valid_to"] <= values["valid_from"]:
        values["valid_to"] = None


def _price_list(draw: Draw, values: Values) -> None:
    _term(draw, values)
    if values["scope"] == "public":
        values["audience_id"] = UUID(EVERYBODY)


def _promotion(draw: Draw, values: Values) -> None:
    """A promotion with a window and within its limits."""
    _adjustment(draw, values)
    values["ends_at"] = max(values["ends_at"], values["starts_at"] + timedelta(seconds=1))
    values["budget_currency"] = draw(st.sampled_from(["EUR", "JPY", "KWD"]))
    values["spent"] = abs(values["spent"]) % 10**9
    if values["budget_amount"] is not None:
        values["budget_amount"] = abs(values["budget_amount"]) % 10**9 + values["spent"] + 1
    if values["max_redemptions"] is not None:
        values["max_redemptions"] = max(values["max_redemptions"], values["redemptions"])


def _notification(draw: Draw, values: Values) -> None:
    """A message has a thread and a writer, an alert may be acknowledged."""
    is_message = values["kind"] == "message"
    values["type"] = "message" if is_message else draw(st.sampled_from(["low_stock", "recall"]))
    for name in ("thread_id", "from_tenant_id"):
        values[name] = draw(st.uuids()) if is_message else None
    values["sender_id"] = None
    values["acknowledged_at"] = None if is_message else draw(st.none() | INSTANTS)
    values["acknowledged_by"] = values["acknowledged_at"] and draw(st.uuids())
    values["closed_at"] = None if is_message else values["closed_at"]
    file = {"id": str(draw(st.uuids())), "name": "a.pdf", "content_type": "application/pdf", "size": 1}
    values["files"] = [file] if is_message and draw(st.booleans()) else []


def _preferences(draw: Draw, values: Values) -> None:
    """Quiet hours are whole, or there are none."""
    values["channels"] = {"low_stock": {"in_app": True, "email": False, "webhook": True, "threshold": 3}}
    values["expiry_days"] = [60, 7]
    values["low_stock_default"] = draw(st.none() | st.integers(0, 99))
    if not all((values["quiet_from"], values["quiet_to"], values["quiet_zone"])):
        values["quiet_from"], values["quiet_to"], values["quiet_zone"] = None, None, ""


def _pricing_rule(draw: Draw, values: Values) -> None:
    _adjustment(draw, values)


def _adjustment(draw: Draw, values: Values) -> None:
    _term(draw, values)
    values["action_value"] = abs(values["action_value"]) % 100
    values["floor_price"] = None if values["floor_price"] is None else abs(values["floor_price"])


def _purchase_order(draw: Draw, values: Values) -> None:
    """An order in one of its states, with amounts of its currency; one that was sent has the supplier's number."""
    values["number"], values["currency"] = str(values["id"]), draw(st.sampled_from(["EUR", "JPY", "KWD", "CLF"]))
    values["status"] = status = draw(st.sampled_from(OrderStatus.values))
    is_sent = status not in ("draft", "pending_approval", "cancelled") or (
        status == "cancelled" and draw(st.booleans())
    )
    values["order_number"] = f"SO-{draw(st.integers(1, 9_999))}" if is_sent else ""
    values["sent_at"] = draw(INSTANTS) if is_sent else None
    values["accepted_at"] = draw(INSTANTS)
    values["approval_for"] = draw(st.sampled_from(ApprovalFor.values)) if status == "pending_approval" else ""
    values["proposed_by"] = draw(st.sampled_from(Party.values)) if status == "change_proposed" else ""
    values["before_change"] = ""
    values["lines_total"], values["revision"] = draw(st.integers(1, 500)), values["revision"] or 1
    values["net"] = draw(st.decimals(0, 10**9, places=4))
    values["gross"] = values["net"] + draw(st.decimals(0, 10**9, places=4))
    values["budget_code"] = draw(st.sampled_from(["", "wards"]))


def _purchase_order_line(draw: Draw, values: Values) -> None:
    """A line whose counters agree: of what is ordered parts are accepted, backordered and cancelled, and some has come."""
    values["currency"], values["line_no"] = (
        draw(st.sampled_from(["EUR", "JPY", "KWD", "CLF"])),
        draw(st.integers(1, 100)),
    )
    values["units_per_pack"], values["price_base_quantity"] = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    values["quantity"], values["ordered"] = draw(st.integers(1, 99)), draw(st.integers(1, 999))
    values["accepted"] = draw(st.integers(0, values["ordered"]))
    values["backordered"] = draw(st.integers(0, values["ordered"] - values["accepted"]))
    values["cancelled"] = draw(st.integers(0, values["ordered"] - values["accepted"] - values["backordered"]))
    values["rejected"], values["short"] = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    values["shipped"] = draw(st.integers(0, values["accepted"] + values["rejected"] + values["short"]))
    values["received"] = draw(st.integers(0, values["shipped"]))
    values["returned"] = draw(st.integers(0, values["received"]))
    values["invoiced"] = draw(st.integers(0, values["ordered"]))
    if values["product_id"] is None or values["packaging_id"] is None:
        values["product_id"] = values["packaging_id"] = values["offer_id"] = None
    for name in ("unit_price", "net"):
        values[name] = abs(values[name])


def _order_change(draw: Draw, values: Values) -> None:
    """An open change of the supplier with a line that differs and one that is new, or of the buyer with a header."""
    values["proposed_by"], values["state"], values["decided_at"] = draw(st.sampled_from(Party.values)), "open", None
    values["author_id"] = values["id"] if values["proposed_by"] == "buyer" else None
    values["revision"], values["more_gross"], values["more"] = draw(st.integers(1, 99)), Decimal(0), {}
    values["net"] = draw(st.decimals(0, 10**9, places=4))
    values["gross"] = values["net"] + draw(st.decimals(0, 10**9, places=4))
    counted = {name: draw(st.integers(0, 10**9)) for name in ("ordered", "accepted", "backordered", "cancelled")}
    days = {name: str(draw(st.dates())) for name in ("requested_date", "promised_date")}
    line = {"id": str(values["id"]), "line_no": 2, "net": "1.50", **counted, **days, "reason_code": "other", "note": ""}
    values["added"] = [{**line, "name": "Masks", "unit_price": "0.50", "product_id": str(values["id"])}]
    values["lines"] = []
    values["header"] = draw(
        st.sampled_from([{}, {"notes_to_supplier": "Ring", "requested_delivery_date": "2030-01-01"}])
    )
    values["taxes"] = []


def _transport(draw: Draw, values: Values) -> None:
    """A shipment with a weight and minutes that are none, or not below nothing."""
    for name in ("gross_weight_g", "excursion_minutes"):
        values[name] = draw(st.none() | st.integers(0, 99_999))
    values["file_ids"] = [str(one) for one in draw(st.lists(st.uuids(), max_size=2))]


_INVOICE_STATES = InvoiceStatus.values


def _delivery(draw: Draw, values: Values) -> None:
    """A delivery in one of its states, which says when it was lost or completed."""
    _transport(draw, values)
    values["number"], values["status"] = str(values["id"]), draw(st.sampled_from(OF_DELIVERY))
    values["lost_at"] = draw(INSTANTS) if values["status"] == "lost" else None
    values["completed_at"] = draw(INSTANTS) if values["status"] == "completed" else draw(st.none() | INSTANTS)


def _delivery_line(draw: Draw, values: Values) -> None:
    """A line whose counters agree: of what was shipped, parts are accepted, rejected and short."""
    values["line_no"], values["units_per_pack"] = draw(st.integers(1, 999)), draw(st.integers(1, 9))
    values["base_quantity"], values["serials_total"] = draw(st.integers(1, 999)), 0
    values["tolerance"] = draw(st.integers(0, 9))
    rest = values["base_quantity"] + values["tolerance"]
    for name in ("rejected", "short", "accepted"):
        values[name] = draw(st.integers(0, rest))
        rest -= values[name]
    values["returned"] = draw(st.integers(0, values["accepted"]))


def _invoice(draw: Draw, values: Values) -> None:
    """An invoice in a state that it says why and when it has, whose amounts agree; or a credit note."""
    values["number"], values["lines_total"] = str(values["id"]), draw(st.integers(1, 500))
    values["currency"] = draw(st.sampled_from(["EUR", "JPY", "KWD", "CLF"]))
    values["type"] = draw(st.sampled_from(["invoice", "prepayment", "credit_note"]))
    is_note = values["type"] == "credit_note"
    status = "issued" if is_note else draw(st.sampled_from(_INVOICE_STATES))
    values["status"] = status
    values["original_id"] = values["id"] if is_note else None  # a row that is there
    values["return_id"] = draw(st.none() | st.uuids()) if is_note else None
    released = status in ("approved", "partially_paid", "paid")
    values["net_total"] = Decimal(draw(st.integers(100, 999)))
    values["tax_total"] = draw(st.none() | st.just(Decimal(19)))
    values["gross_total"] = values["net_total"] + (values["tax_total"] or 0)
    values["credited_total"] = Decimal(draw(st.integers(0, 99)))
    values["held_total"] = Decimal(draw(st.integers(0, 9))) if released else Decimal(0)
    values["paid_total"] = Decimal(draw(st.integers(0, 9))) if released else Decimal(0)
    values["offset_total"] = Decimal(draw(st.integers(0, int(values["credited_total"])))) if released else Decimal(0)
    values["approved_at"] = draw(INSTANTS) if released else None
    values["approved_by_id"] = draw(st.uuids()) if released else None
    values["override_reason"] = draw(st.sampled_from(["", "Agreed"])) if released else ""
    disputed = status == "disputed"
    values["dispute_reason"] = draw(st.sampled_from(DisputeReason.values)) if disputed else ""
    values["dispute_note"] = draw(st.sampled_from(["", "Dear"])) if disputed else ""
    values["disputed_at"] = draw(INSTANTS) if disputed else None
    values["ended_at"] = draw(INSTANTS) if status in ("rejected", "cancelled") else None
    values["paid_at"] = draw(INSTANTS) if status == "paid" else None
    values["match_status"] = draw(st.sampled_from(["", "matched", "mismatched"]))
    values["match_checked_at"] = draw(INSTANTS) if values["match_status"] else None
    entry = {"amount": "1.00", "reason": "Freight", "tax_category": "", "tax_rate": "19"}
    values["charges"], values["allowances"] = draw(st.sampled_from([[], [entry]])), draw(st.sampled_from([[], [entry]]))
    values["taxes"] = draw(
        st.sampled_from([[], [{"tax_category": "S", "tax_rate": "19", "net": "1.00", "tax": "0.19"}]])
    )
    values["discount"] = draw(st.sampled_from([None, {"percent": "2", "days": 10}]))
    values["stated_totals"] = draw(st.sampled_from([None, {"net": "1.00", "tax": None, "gross": "1.00"}]))
    for name in ("delivery_ids", "file_ids"):
        values[name] = [str(one) for one in draw(st.lists(st.uuids(), max_size=2))]


def _invoice_line(draw: Draw, values: Values) -> None:
    """A line of an invoice, of which a part is credited."""
    values["line_no"], values["order_line_no"] = draw(st.integers(1, 500)), draw(st.integers(1, 500))
    values["units_per_pack"], values["price_base_quantity"] = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    values["base_quantity"], values["currency"] = draw(st.integers(1, 999)), "EUR"
    values["credited"] = draw(st.integers(0, values["base_quantity"]))
    values["net"] = Decimal(draw(st.integers(0, 999)))
    values["credited_net"] = Decimal(draw(st.integers(0, int(values["net"]))))
    values["unit_price"], values["allowance"] = Decimal(draw(st.integers(0, 999))), Decimal(draw(st.integers(0, 9)))
    values["tax_rate"] = draw(st.none() | st.just(Decimal("19.0000")))
    values["result"] = draw(st.sampled_from(["", *MatchResult.values]))


def _package_line(draw: Draw, values: Values) -> None:
    """A package holds something of a line."""
    values["line_no"], values["base_quantity"] = draw(st.integers(1, 999)), draw(st.integers(1, 999))


def _payment(draw: Draw, values: Values) -> None:
    """A payment in one of its states, which says when it succeeded or ended, and what the bank has said."""
    values["number"], values["currency"] = str(values["id"]), draw(st.sampled_from(["EUR", "JPY", "KWD", "CLF"]))
    values["amount"], values["location_ids"] = draw(st.decimals("0.0001", 10**9, places=4)), []
    values["status"] = status = draw(st.sampled_from(PaymentStatus.values))
    methods = [one for one in PaymentMethod.values if one != "offset" or status in OF_OFFSET]
    values["method"] = draw(st.sampled_from(methods))
    values["succeeded_at"] = draw(INSTANTS) if status in OF_OFFSET else None
    values["ended_at"] = draw(INSTANTS) if status in FINAL else None
    has_failed = status in ("failed", "reversed") and draw(st.booleans())
    values["failure_code"] = draw(st.sampled_from(["AC04", "AM04"])) if has_failed else ""
    values["failure_message"] = draw(st.sampled_from(["", "The account is closed."])) if has_failed else ""


def _part_of_payment(draw: Draw, values: Values) -> None:
    """A part of a payment is something, in the order of the parts."""
    values["currency"], values["position"] = (
        draw(st.sampled_from(["EUR", "JPY", "KWD", "CLF"])),
        draw(st.integers(1, 100)),
    )
    values["amount"] = draw(st.decimals("0.0001", 10**9, places=4))


def _receipt_line(draw: Draw, values: Values) -> None:
    """A line of a receipt says something, and why goods were rejected."""
    for name in ("accepted", "rejected", "short"):
        values[name] = draw(st.integers(0, 99))
    values["accepted"] += not any(values[name] for name in ("accepted", "rejected", "short"))
    values["rejection_reason"] = draw(st.sampled_from(RejectionReason.values)) if values["rejected"] else ""


def _return(draw: Draw, values: Values) -> None:
    """A return in one of its states, with the times and what followed that belong to it."""
    values["number"], values["status"] = str(values["id"]), draw(st.sampled_from(STORED))
    values["lines_total"], values["shared_version"] = draw(st.integers(1, 500)), draw(st.integers(1, 99))
    values["file_ids"] = [str(one) for one in draw(st.lists(st.uuids(), max_size=2))]
    for name in ("decided_at", "shipped_at", "received_at"):
        values[name] = draw(INSTANTS)
    for name, state in (("completed_at", "completed"), ("cancelled_at", "cancelled")):
        values[name] = draw(INSTANTS) if values["status"] == state else None
    gone = "replacement_order_id" if values["resolution"] == "credit" else "credit_note_id"
    values[gone] = None


def _return_line(draw: Draw, values: Values) -> None:
    """A line that is not inspected, or of which all goods have a disposition, in one part or in two."""
    values["line_no"], values["units_per_pack"] = draw(st.integers(1, 999)), draw(st.integers(1, 9))
    values["base_quantity"] = draw(st.integers(2, 999))
    values["received"] = draw(st.integers(0, values["base_quantity"]))
    values["serial_numbers"] = draw(st.lists(st.sampled_from(["A1", "A2"]), max_size=2))
    values["file_ids"] = [str(one) for one in draw(st.lists(st.uuids(), max_size=2))]
    names = ["restocked", "quarantined", "destroyed", "to_manufacturer", "not_received"]
    values |= dict.fromkeys(names, 0)
    first, second = draw(st.permutations(names))[:2]
    part = draw(st.sampled_from([None, 0, 1]))
    if part is not None:
        values[first], values[second] = values["base_quantity"] - part, part
    values["credited"] = draw(st.integers(0, values["base_quantity"] - values["not_received"]))
    values["credited_amount"] = draw(st.none() | st.decimals(0, 10**6, places=4))


def _received_order(draw: Draw, values: Values) -> None:
    """A copy as its owner's rows give it: its lines are a list."""
    values["lines"] = [{"id": str(values["id"]), "line_no": 1}]
    values["representation"] = {
        "order_number": draw(st.sampled_from(["SO-1", "SO-2"])),
        "proposed_by": draw(st.sampled_from([None, "buyer", "supplier"])),
        "lines_total": 1,
    }


def _budget(draw: Draw, values: Values) -> None:
    """A budget under a code of its own, in a period that is not empty, that has what is committed and spent."""
    values["code"], values["currency"] = str(values["id"]), draw(st.sampled_from(["EUR", "JPY", "KWD", "CLF"]))
    values["valid_to"] = values["valid_from"] + timedelta(days=draw(st.integers(1, 900)))
    values["committed"], values["spent"], free = (draw(st.decimals(0, 10**9, places=4)) for _ in range(3))
    values["amount"] = values["committed"] + values["spent"] + free


def _price_agreement(draw: Draw, values: Values) -> None:
    """A version of an agreement of its own, which holds for a while, and has ended where its state says so."""
    days = st.lists(st.dates(date(1901, 1, 1), date(2999, 1, 1)), min_size=2, max_size=2, unique=True)
    values["valid_from"], values["valid_to"] = sorted(draw(days))
    values["status"] = status = draw(st.sampled_from(AgreementStatus.values))
    values["ended_at"] = None if status in ("proposed", *ACCEPTED) else draw(INSTANTS)
    values["accepted_by_buyer_at"] = draw(INSTANTS)
    values["group_code"] = values["group_code"] if values["scope"] == "organization" else ""
    values["priority"], values["revision"] = values["priority"] % 1_001, values["revision"] or 1
    values["lines_total"] %= 10_001
    for name in ("qty_tolerance_bp", "price_tolerance_bp"):
        values[name] = None if values[name] is None else values[name] % 10_001


def _price_agreement_line(draw: Draw, values: Values) -> None:
    """A line of a product or of a category, of which a part was ordered."""
    if values["category"] is not None:
        values["product_id"] = values["packaging_id"] = None
    else:
        values["product_id"] = draw(st.uuids())
    percent = draw(st.sampled_from(["5", "7.5", "12"]))
    values["tiers"], values["quantities"] = [{"min_quantity": 1, "discount_percent": percent}], "{[1,2)}"
    values["price_base_quantity"] = values["price_base_quantity"] or 1
    values["consumed"], values["max_quantity"] = sorted((abs(values["consumed"]), draw(st.integers(1, 10**15))))
    values["max_quantity"] = values["max_quantity"] or 1
    values["valid_from"], values["valid_to"] = date(2026, 1, 1), date(2027, 1, 1)
    values["in_force"] = False


def _offer(draw: Draw, values: Values) -> None:
    """An offer of one packaging, that is capped where it is told so."""
    values["status"] = draw(st.sampled_from(["draft", "archived"]))
    values["cap"] = values["cap"] or 5
    values["valid_from"] = values["valid_from"] if values["valid_to"] is None else None
    values["countries"] = draw(st.lists(st.sampled_from(["NO", "DE"]), max_size=2))
    tiers = st.fixed_dictionaries({"min_quantity": st.integers(1, 9), "unit_price": st.just("4.90")})
    values["tiers"] = draw(st.lists(tiers, max_size=2))


def _supplier_profile(draw: Draw, values: Values) -> None:
    """A bank account has an end that is shown, and settings have names."""
    if values["bank_account"] is None:
        values["bank_account_last4"], values["bank_reviewed_at"] = "", None
    else:
        values["bank_account_last4"] = values["bank_account_last4"] or "3000"
    values["order_settings"] = draw(st.dictionaries(st.just("max_soft_minutes"), st.integers(1, 1440)))


def _file(draw: Draw, values: Values) -> None:
    """A file whose content can be read has an object, and one that waits for a worker says until when."""
    values["status"] = draw(st.sampled_from(["awaiting_upload", "scanning", "ready", "rejected"]))
    values["object_key"] = draw(st.uuids()).hex
    values["sha256"] = draw(st.uuids()).hex * 2
    values["check_at"] = draw(INSTANTS)
    values["size"] = draw(st.integers(1, 20 * 1_048_576))


def _report(draw: Draw, values: Values) -> None:
    """A ready report has a file, a failed one says why, and nobody has read more rows than there are."""
    values["status"] = status = draw(st.sampled_from(["queued", "running", "ready", "failed", "expired"]))
    values["file_id"] = draw(st.uuids()) if status == "ready" else None
    values["expires_at"] = draw(INSTANTS) if status in ("ready", "expired") else None
    values["error"] = draw(st.sampled_from(["file_too_large", "internal_error"])) if status == "failed" else ""
    values["rows_done"], values["parts"] = draw(st.integers(0, 999)), draw(st.integers(0, 9))
    values["rows_total"] = draw(st.none() | st.integers(values["rows_done"], 9_999))
    values["parameters"] = draw(st.sampled_from([{}, {"currency": "EUR"}]))


# References that may be null, of which a rule keeps one.
EITHER: dict[type[models.Model], tuple[str, ...]] = {Membership: ("user_id", "service_account_id")}


def _recurring_treatment(draw: Draw, values: Values) -> None:
    """By items or by a template, every interval or more."""
    values["every"] = values["every"] or 1
    values["items"] = None if draw(st.booleans()) else []
    values["template_id"] = UUID(int=1) if values["items"] is None else None


RULES: dict[type[models.Model], Callable[[Draw, Values], None]] = {
    AttributeDefinition: _attribute_definition,
    Packaging: _packaging,
    Product: _product,
    User: _user,
    Replay: _replay,
    Event: _event,
    Membership: _membership,
    ApiKey: _api_key,
    PlatformMedication: _medication,
    TenantMedication: _medication,
    Appointment: _appointment,
    Prescription: _prescription,
    PrescriptionItem: _prescription_item,
    Route: _route,
    AccessRecord: _access_record,
    ReceivedPrescription: _received_prescription,
    Dispensation: _dispensation,
    DispensationLine: _dispensation_line,
    RecurringTreatment: _recurring_treatment,
    Location: _location,
    StockMovement: _movement,
    StockItem: _stock_item,
    Lot: _lot,
    DispenseBooking: _dispense_booking,
    StockLevel: _level,
    StockPlace: _stock_place,
    File: _file,
    Report: _report,
    Offer: _offer,
    PriceAgreement: _price_agreement,
    PriceAgreementLine: _price_agreement_line,
    PriceList: _price_list,
    PricingRule: _pricing_rule,
    Promotion: _promotion,
    Budget: _budget,
    Notification: _notification,
    NotificationPreference: _preferences,
    PurchaseOrder: _purchase_order,
    PurchaseOrderLine: _purchase_order_line,
    OrderChange: _order_change,
    Delivery: _delivery,
    DeliveryLine: _delivery_line,
    DeliveryPackageLine: _package_line,
    Invoice: _invoice,
    InvoiceLine: _invoice_line,
    ReceiptLine: _receipt_line,
    Return: _return,
    ReturnLine: _return_line,
    Payment: _payment,
    PaymentAllocation: _part_of_payment,
    CreditSource: _part_of_payment,
    ReceivedOrder: _received_order,
    SupplierProfile: _supplier_profile,
    Relationship: _relationship,
    Tenant: _tenant,
}


class World:
    """The rows of one example; all lie in one tenant, and the caller's transaction takes them back."""

    def __init__(self, draw: Draw, tenant_id: UUID) -> None:
        self.draw, self.tenant_id = draw, tenant_id
        self.taken: set[tuple[Any, ...]] = set()

    def add(self, model: type[models.Model], depth: int = 0, /, **given: Any) -> Values:
        """Insert a row and what it refers to; `given` are columns by their attribute."""
        for _ in range(TRIES):
            values = {field.attname: self._value(model, field, depth, given) for field in _stored(model)}
            if rule := RULES.get(model):
                rule(self.draw, values)
                values |= given
            if _insert(model, values):
                self.taken.add((model, values.get("id")))
                return values
        raise LookupError(f"no row of {model.__name__} keeps its constraints by chance: give it an entry in RULES")

    def add_shown(self, kind: type[Representation], /, **given: Any) -> Values:
        """Insert a row that a representation shows, the rows of its lists, and rows of the tables that it looks into."""
        model = kind.Meta.model  # type: ignore[attr-defined]
        values = self.add(model, **given)
        self._add_parts(kind(), values[model._meta.pk.attname])
        return values

    def _add_parts(self, form: Representation, key: Any) -> None:
        looked_into = set()
        for field in form.fields.values():
            if isinstance(field, Rows) and field.by:
                child: Any = field.child
                by = child.Meta.model._meta.get_field(field.by).attname
                for _ in range(self.draw(st.integers(0, 3))):
                    self.add_shown(type(child), **{by: key})
            elif isinstance(field, Representation):
                self._add_parts(field, key)
            elif isinstance(field, Computed):
                looked_into |= set(_links(form.Meta.model, field.sql))
        for other, attname, only in sorted(looked_into, key=str):
            for _ in range(self.draw(st.integers(0, 1 if only else 2))):
                self._hold(form.Meta.model, other, attname, key)
                self.add(other, 1, **{attname: key})

    def _hold(self, model: type[models.Model], other: type[models.Model], attname: str, key: Any) -> None:
        """Make the item of a tenant's own product, to which rows of stock refer by the product's id."""
        target = other._meta.get_field(attname).related_model
        if model is Product and target is StockItem and (StockItem, key) not in self.taken:
            self.add(StockItem, 1, id=key, own_product_id=key, product_tenant_id=self.tenant_id)

    def _value(self, model: type[models.Model], field: Any, depth: int, given: Values) -> Any:
        if field.attname in given:
            return given[field.attname]
        if field.is_relation:
            return self._reference(field, depth, kept=field.attname in EITHER.get(model, ()))
        if field.column == security_of(model).tenant_column and not field.primary_key:
            return self.tenant_id
        if field.attname == "created_at" and getattr(model, "partitioned", False):
            return self.draw(RECENT)
        return self.draw(strategy_of(field))

    def _reference(self, field: Any, depth: int, *, kept: bool) -> Any:
        other = field.remote_field.model
        if other is Tenant:
            return self.tenant_id
        if field.null and not kept and (depth > 1 or self.draw(st.booleans())):
            return None
        return self.add(other, depth + 1)[field.target_field.attname]


@lru_cache
def _stored(model: type[models.Model]) -> tuple[Any, ...]:
    return tuple(field for field in model._meta.concrete_fields if not field.generated and field.column)


def _insert(model: type[models.Model], values: Values) -> bool:
    """Insert by hand: a save would demand the first state of a lifecycle. Tell whether the row keeps its constraints."""
    connection = connections[ALIAS]
    fields = _stored(model)
    try:
        with transaction.atomic(using=ALIAS), connection.cursor() as cursor:
            cursor.execute(
                _insertion(model), [field.get_db_prep_save(values[field.attname], connection) for field in fields]
            )
    except IntegrityError as error:
        if isinstance(error.__cause__, CheckViolation | UniqueViolation):
            return False
        raise
    return True


@lru_cache
def _insertion(model: type[models.Model]) -> str:
    fields = _stored(model)
    columns = ", ".join(f'"{field.column}"' for field in fields)
    return f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({", ".join(["%s"] * len(fields))})'


@lru_cache
def _links(model: type[models.Model], sql: str) -> tuple[tuple[type[models.Model], str, bool], ...]:
    """The tables that a piece of SQL looks into and that name a row of the model; and whether once at most."""
    found = []
    for other in apps.get_models():
        if not re.search(rf"\b{other._meta.db_table}\b", sql):
            continue
        for field in _stored(other):
            named = field.attname == f"{model._meta.model_name}_id"
            if (field.is_relation and field.remote_field.model is model) or named:
                found.append((other, field.attname, field.unique))
    return tuple(found)
