"""Order and order response. Source: Peppol BIS Ordering 3 (T01, T76); contract, supply-order.md 2 "Line statuses"."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from suppliers.exchange.parties import Parties
from suppliers.orders.states import LineStatus, OrderStatus

from .common import Kept, address, check_parties, item, kept_lines, local_day, named_party, party
from .taxes import tax_category
from .xml import Xml, document, group, value

_PROFILE: Final = value("ProfileID", "urn:fdc:peppol.eu:poacc:bis:ordering:3")
_ORDER: Final = value("CustomizationID", "urn:fdc:peppol.eu:poacc:trns:order:3") + _PROFILE
_RESPONSE: Final = value("CustomizationID", "urn:fdc:peppol.eu:poacc:trns:order_response:3") + _PROFILE
_PURCHASE: Final = "220"  # UNCL 1001
# Codes of UNCL 1229, and of UNCL 4343 for the whole.
_ACCEPTED, _CHANGED, _REFUSED, _DELIVERED = "5", "3", "7", "42"
_ANSWERED_IN_PART: Final = "CA"


def order(shown: Mapping[str, Any], parties: Parties) -> bytes:
    """Write an order as its buyer has sent it, in its present revision.

    :raises DocumentIncomplete: a party has no electronic address or no country.
    """
    check_parties(parties)
    currency, lines = shown["currency"], kept_lines(shown)
    return document(
        "Order",
        _ORDER,
        value("ID", shown["po_number"]),
        value("SalesOrderID", shown["order_number"]),
        value("IssueDate", local_day(shown["sent_at"], parties.buyer.time_zone)),
        value("OrderTypeCode", _PURCHASE),
        value("Note", shown["notes_to_supplier"]),
        value("DocumentCurrencyCode", currency),
        value("CustomerReference", shown["external_reference"]),
        _validity(shown, parties),
        group("BuyerCustomerParty", party(parties.buyer, taxed=True)),
        group("SellerSupplierParty", party(parties.supplier)),
        _delivery(shown, parties),
        group("DeliveryTerms", value("ID", shown["incoterm"])),
        group("PaymentTerms", value("Note", _terms(shown["payment_terms"]))),
        _tax_total(shown),
        _totals(shown, currency),
        *(_line(one, currency) for one in lines),
    )


def _validity(shown: Mapping[str, Any], parties: Parties) -> Xml:
    until = shown["accept_by"]
    return group("ValidityPeriod", value("EndDate", until and local_day(until, parties.buyer.time_zone)))


def _terms(terms: Mapping[str, Any] | None) -> str:
    if not terms:
        return ""
    early = (
        f", {terms['discount_percent']} % within {terms['discount_days']} days" if terms.get("discount_percent") else ""
    )
    return f"{terms['net_days']} days net{early}"


def _delivery(shown: Mapping[str, Any], parties: Parties) -> Xml:
    place = shown["delivery_address"] or {}
    where = place.get("address") or {}
    location = group(
        "DeliveryLocation",
        value("Name", place.get("name")),
        address(where, where.get("country") or parties.buyer.country, "Address"),
    )
    day = group("RequestedDeliveryPeriod", value("EndDate", shown["requested_delivery_date"]))
    return group("Delivery", location, day)


def _tax_total(shown: Mapping[str, Any]) -> Xml:
    tax = shown["totals"]["tax"]
    return group("TaxTotal", value("TaxAmount", tax, currencyID=shown["currency"]))


def _totals(shown: Mapping[str, Any], currency: str) -> Xml:
    totals = shown["totals"]
    return group(
        "AnticipatedMonetaryTotal",
        value("LineExtensionAmount", totals["net"], currencyID=currency),
        value("TaxExclusiveAmount", totals["net"], currencyID=currency),
        value("TaxInclusiveAmount", totals["gross"], currencyID=currency),
        value("PayableAmount", totals["gross"], currencyID=currency),
    )


def _line(one: Kept, currency: str) -> Xml:
    line, goods = one.line, one.line["snapshot"]
    unit = line["base_unit"]
    rate = goods["tax_rate"]
    return group(
        "OrderLine",
        group(
            "LineItem",
            value("ID", line["line_no"]),
            value("Quantity", one.quantity, unitCode=unit),
            value("LineExtensionAmount", f"{one.net:f}", currencyID=currency),
            group("Delivery", group("RequestedDeliveryPeriod", value("EndDate", line["requested_date"]))),
            _price(goods, unit, currency),
            item(goods, tax="" if rate is None else tax_category(goods["tax_category"], rate)),
        ),
    )


def _price(goods: Mapping[str, Any], unit: str, currency: str) -> Xml:
    """Write the price for as many base units as it is for."""
    return group(
        "Price",
        value("PriceAmount", goods["unit_price"], currencyID=currency),
        value("BaseQuantity", goods["price_base_quantity"] * goods["units_per_pack"], unitCode=unit),
    )


def order_response(shown: Mapping[str, Any], parties: Parties) -> bytes:
    """Write what the supplier has answered to an order: that it came in, that it is accepted, changed, or refused.

    :raises DocumentIncomplete: a party has no electronic address or no country.
    """
    check_parties(parties)
    code = _response_code(shown)
    lines = _response_lines(shown) if code == _ANSWERED_IN_PART else ()
    return document(
        "OrderResponse",
        _RESPONSE,
        value("ID", f"{shown['order_number']}-{shown['revision']}"),
        value("SalesOrderID", shown["order_number"]),
        value("IssueDate", local_day(shown["accepted_at"] or shown["sent_at"], parties.supplier.time_zone)),
        value("OrderResponseCode", code),
        value("DocumentCurrencyCode", shown["currency"]),
        value("CustomerReference", shown["external_reference"]),
        group("OrderReference", value("ID", shown["po_number"])),
        group("SellerSupplierParty", named_party(parties.supplier)),
        group("BuyerCustomerParty", named_party(parties.buyer)),
        *lines,
    )


def _response_code(shown: Mapping[str, Any]) -> str:
    if shown["status"] == OrderStatus.REJECTED:
        return "RE"
    if shown["accepted_at"] is None:
        return "AB"
    return "AP" if all(_code_of(one) in (_ACCEPTED, _DELIVERED) for one in shown["lines"]) else _ANSWERED_IN_PART


def _code_of(line: Mapping[str, Any]) -> str:
    if line["line_status"] == LineStatus.CANCELLED:
        return _REFUSED
    if line["cancelled"] or line["backordered"] or line["substitutes_line_id"]:
        return _CHANGED
    return _DELIVERED if line["received"] >= line["ordered"] else _ACCEPTED


def _response_lines(shown: Mapping[str, Any]) -> Iterator[Xml]:
    numbers = {one["id"]: one for one in shown["lines"]}
    for line in shown["lines"]:
        if line["substitutes_line_id"] not in numbers:
            yield _response_line(line, [one for one in shown["lines"] if one["substitutes_line_id"] == line["id"]])


def _response_line(line: Mapping[str, Any], instead: list[Mapping[str, Any]]) -> Xml:
    code = _CHANGED if instead else _code_of(line)
    quantity, later = line["ordered"] - line["cancelled"] - line["backordered"], line["backordered"]
    sent = "" if code == _REFUSED else value("Quantity", quantity, unitCode=line["base_unit"])
    day = line["promised_date"] or line.get("backorder_date")
    return group(
        "OrderLine",
        group(
            "LineItem",
            value("ID", line["line_no"]),
            value("LineStatusCode", code),
            sent,
            value("MaximumBackorderQuantity", later or "", unitCode=line["base_unit"]),
            group("Delivery", group("PromisedDeliveryPeriod", value("EndDate", day))),
            item(line["snapshot"]),
        ),
        *(
            group("SellerSubstitutedLineItem", value("ID", one["line_no"]), item(one["snapshot"]))
            for one in instead[:1]
        ),
        group("OrderLineReference", value("LineID", line["line_no"])),
    )
