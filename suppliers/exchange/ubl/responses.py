"""What a buyer has answered to an invoice. Source: Peppol BIS Invoice Response 3 (T111); contract, supply-invoice.md 2."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.errors import InvalidTransition
from suppliers.exchange.parties import Parties
from suppliers.invoices.states import DisputeReason, InvoiceType, MatchResult

from .billing import TYPE_CODES
from .common import check_parties, local_day, named_party
from .xml import Xml, document, group, value

_PROFILE: Final = value("CustomizationID", "urn:fdc:peppol.eu:poacc:trns:invoice_response:3") + value(
    "ProfileID", "urn:fdc:peppol.eu:poacc:bis:invoice_response:3"
)
# The instant at which a code came to hold. Source: UNCL 4343; contract, the column "Peppol".
_SINCE: Final = {
    "AB": "issued_at", "IP": "match_checked_at", "UQ": "disputed_at", "CA": "approved_at", "AP": "approved_at",
    "RE": "ended_at", "PD": "paid_at",
}  # fmt: skip
_OTHER: Final = "OTH"
_REASON_LIST: Final = "OPStatusReason"
_OF_DISPUTE: Final = {
    DisputeReason.QUANTITY: "QTY", DisputeReason.PRICE: "PRI", DisputeReason.TAX: "LEG", DisputeReason.NOT_RECEIVED: "DEL",
    DisputeReason.DAMAGED: "QUA", DisputeReason.WRONG_ITEM: "ITM", DisputeReason.TERMS: "PAY",
}  # fmt: skip
_OF_MATCH: Final = {
    MatchResult.NOT_RECEIVED: "DEL", MatchResult.QUANTITY_OVER: "QTY", MatchResult.PRICE_OVER: "PRI",
    MatchResult.NOT_ORDERED: "ITM", MatchResult.TAX_DIFFERS: "LEG",
}  # fmt: skip


def invoice_response(shown: Mapping[str, Any], parties: Parties) -> bytes:
    """Write how far the buyer is with an invoice; the newest answer stands for those before it.

    :raises InvalidTransition: nothing is answered to a credit note, or to an invoice that its supplier has withdrawn.
    :raises DocumentIncomplete: a party has no electronic address or no country.
    """
    code = shown["peppol_status"]
    if code is None:
        kind = "A credit note" if shown["type"] == InvoiceType.CREDIT_NOTE else "A withdrawn invoice"
        raise InvalidTransition(f"{kind} has no response.", state=shown["status"], action="invoice_response")
    check_parties(parties)
    since = shown[_SINCE[code]]
    day = local_day(since, parties.buyer.time_zone)
    return document(
        "ApplicationResponse",
        _PROFILE,
        value("ID", f"{shown['invoice_number']}-{code}-{since}"),
        value("IssueDate", day),
        named_party(parties.buyer, "SenderParty"),
        named_party(parties.supplier, "ReceiverParty"),
        group(
            "DocumentResponse",
            group("Response", value("ResponseCode", code), value("EffectiveDate", day), *_reasons(shown, code)),
            group(
                "DocumentReference",
                value("ID", shown["invoice_number"]),
                value("IssueDate", shown["issue_date"]),
                value("DocumentTypeCode", TYPE_CODES[shown["type"]]),
            ),
        ),
    )


def _reasons(shown: Mapping[str, Any], code: str) -> list[Xml]:
    """Write why it is under query, refused, or accepted although it differs; why it was, the buyer's own words, stays there."""
    if code == "UQ":
        reason = DisputeReason(shown["dispute_reason"])
        return [_reason(_OF_DISPUTE.get(reason, _OTHER), shown["dispute_note"] or str(reason.label))]
    if code == "RE":
        return [_reason(_OTHER, shown["reason"] or "Refused")]
    if code == "CA":
        return _differences(shown["lines"])
    return []


def _differences(lines: Sequence[Mapping[str, Any]]) -> list[Xml]:
    """Write a reason for each way in which lines differ."""
    results = dict.fromkeys(MatchResult(one["result"]) for one in lines if one["result"] in _OF_MATCH)
    found = [_reason(_OF_MATCH[one], str(one.label)) for one in results]
    return found or [_reason(_OTHER, "It differs from what was ordered or received")]


def _reason(code: str, text: str) -> Xml:
    return group("Status", value("StatusReasonCode", code, listID=_REASON_LIST), value("StatusReason", text))
