"""Deliveries as EPCIS 2.0 in JSON-LD: what left, what came in, and which package stands in which.

Numbers are GS1 Digital Link addresses, which need no company prefix. Source: GS1 EPCIS 2.0, CBV 2.0, GS1 Digital Link 1.2.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import orjson

from core.errors import InvalidTransition

from .parties import Parties

_CONTEXT: Final = ["https://ref.gs1.org/standards/epcis/2.0.0/epcis-context.jsonld"]
_GS1: Final = "https://id.gs1.org"


def document(shown: Mapping[str, Any], parties: Parties) -> bytes:
    """Write the events of a delivery, in the order in which they happened.

    :raises InvalidTransition: a line has neither a lot nor serial numbers, or no GTIN, so that nothing identifies its goods.
    """
    lines = {one["line_no"]: one for one in shown["lines"]}
    if any(not (one["gtin"] and (one["lot_number"] or one["serial_numbers"])) for one in lines.values()):
        raise InvalidTransition(
            "A line has no GTIN, or neither a lot nor serial numbers.", state=shown["status"], action="epcis"
        )
    events = [*_packed(shown, lines), _left(shown, [*lines.values()], parties)]
    events += [_came(shown, lines, one, parties) for one in _standing(shown["receipts"])]
    written = {
        "@context": _CONTEXT,
        "type": "EPCISDocument",
        "schemaVersion": "2.0",
        "creationDate": shown["shipped_at"],
        "epcisBody": {"eventList": events},
    }
    return orjson.dumps(written)


def _standing(receipts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the receipts that have accepted something and were not reversed."""
    gone = {one["reverses"] for one in receipts}
    return [
        one
        for one in receipts
        if not one["reverses"] and one["id"] not in gone and any(line["accepted"] for line in one["lines"])
    ]


def _event(kind: str, instant: str, **members: Any) -> dict[str, Any]:
    at = datetime.fromisoformat(instant)
    return {
        "type": kind,
        "eventTime": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "eventTimeZoneOffset": "+00:00",
        **{name: value for name, value in members.items() if value},
    }


def _left(shown: Mapping[str, Any], lines: Sequence[Mapping[str, Any]], parties: Parties) -> dict[str, Any]:
    return _event(
        "ObjectEvent", shown["shipped_at"],
        action="OBSERVE", bizStep="shipping", disposition="in_transit",
        epcList=[epc for line in lines for epc in _serials(line)],
        quantityList=[_quantity(line, line["base_quantity"]) for line in lines if not line["serial_numbers"]],
        bizTransactionList=_transactions(shown), **_owners(parties),
    )  # fmt: skip


def _came(
    shown: Mapping[str, Any], lines: Mapping[int, Mapping[str, Any]], receipt: Mapping[str, Any], parties: Parties
) -> dict[str, Any]:
    came = [(one, lines[one["line_no"]]) for one in receipt["lines"] if one["accepted"]]
    return _event(
        "ObjectEvent", receipt["received_at"],
        action="OBSERVE", bizStep="receiving", disposition="in_progress",
        epcList=[_serial(line, number) for one, line in came for number in one["serial_numbers"]],
        quantityList=[_quantity(line, one["accepted"]) for one, line in came if not one["serial_numbers"]],
        bizTransactionList=_transactions(shown), **_owners(parties),
    )  # fmt: skip


def _packed(shown: Mapping[str, Any], lines: Mapping[int, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Write each package with what stands in it: other packages, and goods. One that holds nothing has no event."""
    within = defaultdict[str, list[str]](list)
    for one in shown["packages"]:
        within[one["parent_sscc"]].append(_sscc(one["sscc"]))
    for package in shown["packages"]:
        inner = within[package["sscc"]]
        goods = [(lines[one["line_no"]], one["base_quantity"]) for one in package["lines"]]
        if not (inner or goods):
            continue
        whole = [epc for line, count in goods if count == len(line["serial_numbers"]) for epc in _serials(line)]
        counted = [_quantity(line, count) for line, count in goods if count != len(line["serial_numbers"])]
        yield {
            **_event("AggregationEvent", shown["shipped_at"]),
            "parentID": _sscc(package["sscc"]),
            "childEPCs": [*inner, *whole],
            **({"childQuantityList": counted} if counted else {}),
            "action": "ADD",
            "bizStep": "packing",
        }


def _serials(line: Mapping[str, Any]) -> list[str]:
    return [_serial(line, one) for one in line["serial_numbers"]]


def _serial(line: Mapping[str, Any], number: str) -> str:
    return f"{_GS1}/01/{line['gtin']}/21/{quote(number, safe='')}"


def _sscc(number: str) -> str:
    return f"{_GS1}/00/{number}"


def _quantity(line: Mapping[str, Any], base_quantity: int) -> dict[str, Any]:
    """Write a quantity of a lot: packs where it is a whole number of them, else base units with their code."""
    lot = f"/10/{quote(line['lot_number'], safe='')}" if line["lot_number"] else ""
    counted: dict[str, Any] = {"epcClass": f"{_GS1}/01/{line['gtin']}{lot}"}
    packs, rest = divmod(base_quantity, line["units_per_pack"])
    return counted | ({"quantity": base_quantity, "uom": line["base_unit"]} if rest else {"quantity": packs})


def _transactions(shown: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"type": "po", "bizTransaction": f"urn:uuid:{shown['purchase_order_id']}"},
        {"type": "desadv", "bizTransaction": f"urn:uuid:{shown['id']}"},
    ]


def _owners(parties: Parties) -> dict[str, list[dict[str, str]]]:
    def owner(number: str, name: str) -> list[dict[str, str]]:
        return [{"type": "owning_party", name: f"{_GS1}/417/{number}"}] if number else []

    return {
        "sourceList": owner(parties.supplier.gln, "source"),
        "destinationList": owner(parties.buyer.gln, "destination"),
    }
