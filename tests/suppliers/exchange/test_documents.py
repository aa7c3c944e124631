"""Orders and deliveries as UBL and EPCIS: chosen by Accept, the same for both parties, complete or refused."""

import json
from datetime import date
from decimal import Decimal
from typing import Any

from core.clock import now, rfc3339
from tests import factories
from tests.factories import Api
from tests.procurement.purchasing.orders import Trade, act, submitted
from tests.suppliers.deliveries.receiving.arrivals import place
from tests.suppliers.deliveries.shipping import LATE, medicine, placed, shipped
from tests.suppliers.exchange.network import BUYER_GLN, LD_JSON, SUPPLIER_GLN, XML, ask, texts, tree_of
from tests.suppliers.orders.answers import accepted, answer

PO, SO, DN = "/v1/purchase-orders/{}", "/v1/orders/{}", "/v1/procurement/deliveries/{}"


def both(trade: Trade, key: str, query: str = "") -> bytes:
    """Return the document of an order, which both parties read alike."""
    own = ask(trade.api, PO.format(key) + query)
    other = ask(trade.shelf.api, SO.format(key) + query)
    assert (own.status_code, other.status_code) == (200, 200), (own.content, other.content)
    assert own.content == other.content
    return bytes(own.content)


def test_order_names_parties_lines_and_totals(trade: Trade) -> None:
    sent = submitted(trade, (trade.gloves, 10), (trade.masks, 7), notes_to_supplier="Ring <twice> & wait\x0b")
    found = ask(trade.api, PO.format(sent["id"]))
    root = tree_of(found)

    assert both(trade, sent["id"]) == found.content
    assert texts(root, "ID") == [sent["po_number"]]
    assert texts(root, "Note") == ["Ring <twice> & wait"]
    assert texts(root, "BuyerCustomerParty/Party/EndpointID") == [BUYER_GLN]
    assert texts(root, "SellerSupplierParty/Party/EndpointID") == [SUPPLIER_GLN]
    assert texts(root, "SellerSupplierParty/Party/PartyLegalEntity/RegistrationName") == ["Nordic Medical & Söhne GmbH"]
    assert texts(root, "AnticipatedMonetaryTotal/PayableAmount") == [sent["totals"]["gross"]]
    assert texts(root, "OrderLine/LineItem/Quantity") == ["1000", "7"]
    assert texts(root, "OrderLine/LineItem/Price/BaseQuantity") == ["100", "1"]
    nets = [Decimal(one or "0") for one in texts(root, "OrderLine/LineItem/LineExtensionAmount")]
    assert sum(nets) == Decimal(sent["totals"]["net"])


def test_document_has_an_etag_and_json_is_answered_as_before(trade: Trade) -> None:
    sent = submitted(trade)
    first = ask(trade.api, PO.format(sent["id"]))
    again = trade.api.get(PO.format(sent["id"]), headers={"Accept": XML, "If-None-Match": first.headers["ETag"]})
    plain = trade.api.get(PO.format(sent["id"]), headers={"Accept": "application/json, application/xml;q=0.9"})

    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["ETag"].startswith(f'"{sent["version"]};')
    assert (plain.status_code, plain.headers["Content-Type"]) == (200, "application/json")
    assert "Accept" in first.headers["Vary"]
    assert "Accept" in plain.headers["Vary"]
    changed = trade.api.post(
        f"{PO.format(sent['id'])}/cancel", json={"reason": "Twice"}, headers={"If-Match": first.headers["ETag"]}
    )
    assert changed.status_code == 200, changed.content


def test_what_cannot_be_asked_of_a_document_is_refused(trade: Trade) -> None:
    sent, draft = submitted(trade), trade.draft()
    for query, status, code in (
        ("?fields=id", 400, "unknown_parameter"),
        ("?include=x", 400, "unknown_parameter"),
        ("?document=invoice", 400, "validation_error"),
    ):
        refused = ask(trade.api, PO.format(sent["id"]) + query)
        assert (refused.status_code, refused.json()["code"]) == (status, code)
    plain = trade.api.get(PO.format(sent["id"]) + "?document=order")
    unsent = ask(trade.api, PO.format(draft["id"]))
    image = ask(trade.api, PO.format(sent["id"]), "image/png")

    assert plain.status_code == 400
    assert (unsent.status_code, unsent.json()["code"]) == (409, "invalid_transition")
    assert (image.status_code, image.json()["code"]) == (406, "not_acceptable")
    assert (
        ask(factories.as_member(factories.provision("provider"), ["buyer"]), PO.format(sent["id"])).status_code == 404
    )
    assert ask(trade.shelf.api, SO.format(draft["id"])).status_code == 404


def test_party_without_a_number_is_named(trade: Trade) -> None:
    sent = submitted(trade)
    trade.shelf.api.patch("/v1/suppliers/me", json={"registrations": []})

    refused = ask(trade.api, PO.format(sent["id"]))

    assert (refused.status_code, refused.json()["code"]) == (422, "document_incomplete")
    assert [(one["field"], one["code"]) for one in refused.json()["errors"]] == [("supplier.endpoint", "required")]


def test_response_says_what_the_supplier_has_answered(trade: Trade) -> None:
    for one in (trade.gloves, trade.masks):
        trade.shelf.stock(one, 5_000)
    waiting, whole, refused = (submitted(trade, (trade.gloves, 10)) for _ in range(3))
    accepted(trade, whole["id"])
    assert answer(trade, refused["id"], "reject", reason_code="other").status_code == 200
    partly = submitted(trade, (trade.gloves, 10), (trade.masks, 5))
    accepted_in_part(trade, partly, 6, 5)

    codes = {}
    for name, one in (("waiting", waiting), ("whole", whole), ("refused", refused), ("partly", partly)):
        both(trade, one["id"], "?document=order_response")
        root = tree_of(ask(trade.api, PO.format(one["id"]) + "?document=order_response"))
        codes[name] = (texts(root, "OrderResponseCode"), texts(root, "OrderLine/LineItem/LineStatusCode"))

    assert codes == {
        "waiting": (["AB"], []), "whole": (["AP"], []), "refused": (["RE"], []), "partly": (["CA"], ["3", "5"]),
    }  # fmt: skip


def test_order_says_what_is_kept_of_it(trade: Trade) -> None:
    for one in (trade.gloves, trade.masks):
        trade.shelf.stock(one, 5_000)
    partly = submitted(trade, (trade.gloves, 10), (trade.masks, 5))
    accepted_in_part(trade, partly, 6, 5)
    refused = submitted(trade, (trade.gloves, 10))
    assert answer(trade, refused["id"], "reject", reason_code="other").status_code == 200

    found = []
    for one in (partly, refused):
        root = tree_of(ask(trade.api, PO.format(one["id"])))
        nets = [Decimal(text or "0") for text in texts(root, "OrderLine/LineItem/LineExtensionAmount")]
        total = trade.read(one["id"])["totals"]["net"]
        assert texts(root, "AnticipatedMonetaryTotal/LineExtensionAmount") == [total]
        found.append((texts(root, "OrderLine/LineItem/Quantity"), sum(nets) == Decimal(total)))

    assert found == [(["600", "5"], True), (["1000"], True)]


def accepted_in_part(trade: Trade, order: dict[str, Any], *quantities: int) -> None:
    """Let the supplier accept some packs of each line only, and the buyer confirm it."""
    lines = [
        {"item_id": line["id"], "accepted_quantity": one} for line, one in zip(order["lines"], quantities, strict=True)
    ]
    proposed = answer(trade, order["id"], "accept", lines=lines)
    assert proposed.status_code == 200, proposed.content
    confirmed = act(
        trade, order["id"], "confirm-changes", decision="accept", revision=proposed.json()["data"]["revision"]
    )
    assert confirmed.status_code == 200, confirmed.content


def packed(trade: Trade) -> dict[str, Any]:
    """Ship forty vials of two lots on a pallet, on which a case stands."""
    product = medicine(
        trade, packagings=[{"level": "each", "units_per_pack": 1, "gtin": "04006381333931", "orderable": True}]
    )
    trade.shelf.stock(product, 30, lot="LATE", expiry=LATE)
    trade.shelf.stock(product, 30, lot="SOON/1", expiry=date(2028, 1, 31))
    order = placed(trade, (product, 40))
    inner = {
        "sscc": "340123450000000017", "parent_sscc": "340123450000000000", "level": "case",
        "lines": [{"line_no": 1, "base_quantity": 35}],
    }  # fmt: skip
    pallet = {"sscc": "340123450000000000", "level": "pallet", "lines": [{"line_no": 1, "base_quantity": 5}]}
    return shipped(trade, order, 40, packages=[pallet, inner], carrier="Example Freight", gross_weight_g=12_050)


def clerk_of(trade: Trade) -> Api:
    """Return a client of a member of the buyer that receives goods."""
    return factories.as_member(trade.buyer.tenant, ["receiving_clerk"])


def receive(trade: Trade, made: dict[str, Any], accepted_quantity: int) -> dict[str, Any]:
    """Receive so much of each line of a delivery, in base units; return the receipt."""
    clerk, hall = clerk_of(trade), place(trade.buyer)["location_id"]
    lines = [
        {"delivery_line_id": one["id"], "accepted_quantity": accepted_quantity, "unit": "base"} for one in made["lines"]
    ]
    body = {"received_at": rfc3339(now()), "location_id": hall, "lines": lines}
    received = clerk.post(f"{DN.format(made['id'])}/receipts", json=body)
    assert received.status_code == 201, received.content
    found: dict[str, Any] = received.json()["data"]
    return found


def test_despatch_advice_tells_lots_and_packages_to_both(trade: Trade) -> None:
    made = packed(trade)
    own, other = ask(trade.api, DN.format(made["id"])), ask(trade.shelf.api, DN.format(made["id"]))
    root = tree_of(own)

    assert own.content == other.content
    assert texts(root, "DespatchLine/DeliveredQuantity") == ["30", "10"]
    assert texts(root, "DespatchLine/Item/ItemInstance/LotIdentification/LotNumberID") == ["SOON/1", "LATE"]
    assert texts(root, "DespatchLine/OrderLineReference/LineID") == ["1", "1"]
    assert texts(root, "Shipment/GrossWeightMeasure") == ["12.050"]
    packages = texts(root, "DespatchLine/Shipment/TransportHandlingUnit/ID")
    assert packages == ["340123450000000000", "340123450000000017", "340123450000000017"]


def test_epcis_tells_what_left_what_came_in_and_the_packages(trade: Trade) -> None:
    made = packed(trade)
    receipt = receive(trade, made, 10)

    own, other = (ask(one, DN.format(made["id"]), LD_JSON) for one in (trade.api, trade.shelf.api))
    assert (own.status_code, own.content) == (200, other.content)
    events = json.loads(own.content)["epcisBody"]["eventList"]

    assert [(one["type"], one["bizStep"]) for one in events] == [
        ("AggregationEvent", "packing"), ("AggregationEvent", "packing"), ("ObjectEvent", "shipping"), ("ObjectEvent", "receiving"),
    ]  # fmt: skip
    assert events[0]["childEPCs"] == ["https://id.gs1.org/00/340123450000000017"]
    assert events[2]["quantityList"] == [
        {"epcClass": "https://id.gs1.org/01/04006381333931/10/SOON%2F1", "quantity": 30},
        {"epcClass": "https://id.gs1.org/01/04006381333931/10/LATE", "quantity": 10},
    ]
    assert [one["quantity"] for one in events[3]["quantityList"]] == [10, 10]

    reversed_ = clerk_of(trade).post(f"{DN.format(made['id'])}/receipts", json={"reverses": receipt["id"]})
    assert reversed_.status_code == 201, reversed_.content
    again = json.loads(ask(trade.api, DN.format(made["id"]), LD_JSON).content)["epcisBody"]["eventList"]
    assert [one["bizStep"] for one in again] == ["packing", "packing", "shipping"]


def test_epcis_has_no_event_of_an_empty_package(trade: Trade) -> None:
    product = medicine(
        trade, packagings=[{"level": "each", "units_per_pack": 1, "gtin": "04006381333931", "orderable": True}]
    )
    trade.shelf.stock(product, 5, lot="LATE", expiry=LATE)
    pallet, case = "340123450000000000", "340123450000000017"
    packages = [{"sscc": pallet, "level": "pallet"}, {"sscc": case, "parent_sscc": pallet, "level": "case"}]
    made = shipped(trade, placed(trade, (product, 5)), 5, packages=packages)

    events = json.loads(ask(trade.api, DN.format(made["id"]), LD_JSON).content)["epcisBody"]["eventList"]

    assert [one["bizStep"] for one in events] == ["packing", "shipping"]
    assert events[0]["parentID"] == f"https://id.gs1.org/00/{pallet}"
    assert events[0]["childEPCs"] == [f"https://id.gs1.org/00/{case}"]


def test_delivery_without_lots_has_no_epcis(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 50)
    made = shipped(trade, placed(trade, (trade.masks, 5)), 5)

    refused = ask(trade.api, DN.format(made["id"]), LD_JSON)

    assert (refused.status_code, refused.json()["code"]) == (409, "invalid_transition")
