"""Despatch advice. Source: Peppol BIS Despatch Advice 3 (T16)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from suppliers.exchange.parties import Parties

from .common import check_parties, item, local_day, party
from .xml import Xml, document, group, value

_PROFILE: Final = value("CustomizationID", "urn:fdc:peppol.eu:poacc:trns:despatch_advice:3") + value(
    "ProfileID", "urn:fdc:peppol.eu:poacc:bis:despatch_advice:3"
)
# Packages by level. Source: UNECE Recommendation 21.
_KINDS: Final = {"pallet": "PX", "case": "CS", "inner": "BX", "each": "PK"}


def despatch_advice(shown: Mapping[str, Any], parties: Parties) -> bytes:
    """Write what of an order is under way: goods by lot and serial number, packages with their numbers.

    :raises DocumentIncomplete: a party has no electronic address or no country.
    """
    check_parties(parties)
    place = shown["to_location"] or {}
    where = place.get("address") or {}
    return document(
        "DespatchAdvice",
        _PROFILE,
        value("ID", shown["delivery_number"]),
        value("IssueDate", local_day(shown["shipped_at"], parties.supplier.time_zone)),
        group("OrderReference", value("ID", shown["po_number"])),
        group("DespatchSupplierParty", party(parties.supplier)),
        group("DeliveryCustomerParty", party(parties.buyer, where=where)),
        group(
            "Shipment",
            value("ID", shown["tracking_number"] or shown["delivery_number"]),
            value("GrossWeightMeasure", _kilograms(shown["gross_weight_g"]), unitCode="KGM"),
            value("TotalTransportHandlingUnitQuantity", len(shown["packages"]) or ""),
            _carrier(shown),
            group("Delivery", _times(shown, parties)),
        ),
        *_lines(shown),
    )


def _kilograms(grams: int | None) -> str:
    return "" if grams is None else f"{grams // 1000}.{grams % 1000:03}"


def _carrier(shown: Mapping[str, Any]) -> Xml:
    carrier = group("CarrierParty", group("PartyName", value("Name", shown["carrier"])))
    return (
        group("Consignment", value("ID", shown["tracking_number"] or shown["delivery_number"]), carrier)
        if carrier
        else ""
    )


def _times(shown: Mapping[str, Any], parties: Parties) -> Xml:
    zone = parties.supplier.time_zone
    estimated = value("EndDate", local_day(shown["estimated_at"], zone)) if shown["estimated_at"] else ""
    left = group("Despatch", value("ActualDespatchDate", local_day(shown["shipped_at"], zone)))
    return group("EstimatedDeliveryPeriod", estimated) + left


def _package(one: Mapping[str, Any]) -> Xml:
    kind = value("TransportHandlingUnitTypeCode", _KINDS.get(one["level"], "PK"))
    return group("TransportHandlingUnit", value("ID", one["sscc"]), kind)


def _lines(shown: Mapping[str, Any]) -> Iterator[Xml]:
    numbers, packages = shown["order_lines"], defaultdict[int, list[Mapping[str, Any]]](list)
    for one in shown["packages"]:
        for part in one["lines"]:
            packages[part["line_no"]].append(one)
    for line in shown["lines"]:
        held = packages[line["line_no"]]
        shipment = group("Shipment", value("ID", "NA"), *map(_package, held)) if held else ""
        yield group(
            "DespatchLine",
            value("ID", line["line_no"]),
            value("DeliveredQuantity", line["base_quantity"], unitCode=line["base_unit"]),
            group(
                "OrderLineReference",
                value("LineID", numbers.get(line["order_line_id"])),
                group("OrderReference", value("ID", shown["po_number"])),
            ),
            item(line, further=_instances(line)),
            shipment,
        )


def _instances(line: Mapping[str, Any]) -> Xml:
    lot = group("LotIdentification", value("LotNumberID", line["lot_number"]), value("ExpiryDate", line["expiry_date"]))
    serials = line["serial_numbers"] or ([""] if lot else [])
    return "".join(group("ItemInstance", value("SerialID", one), lot) for one in serials)
