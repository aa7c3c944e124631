"""Invoices, prepayments and credit notes, as they were issued. Source: EN 16931; Peppol BIS Billing 3."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from core.errors import FieldError, InvalidFields
from suppliers.exchange.parties import Parties, PartyFacts
from suppliers.exchange.refusals import DocumentIncomplete
from suppliers.invoices.states import InvoiceType

from .common import address, identified, item, legal_entity, local_day, tax_scheme
from .lacking import is_german, lacking
from .taxes import OUTSIDE, joined, tax_category, tax_code, tax_total
from .xml import Xml, document, group, value

_PROFILE: Final = value(
    "CustomizationID", "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"
) + value("ProfileID", "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0")
# Kinds of documents. Source: UNCL 1001.
TYPE_CODES: Final = {
    InvoiceType.INVOICE.value: "380",
    InvoiceType.PREPAYMENT.value: "386",
    InvoiceType.CREDIT_NOTE.value: "381",
}
# How is paid, as the parties have agreed: no bill tells an account. Danish rules know no such agreement. Source: UNCL 4461.
_AS_AGREED, _NOT_DEFINED = "57", "1"
_DISCOUNT: Final = "95"  # UNCL 5189
# Numbers of registers that are a part of the VAT number, by country: scheme and letters. Source: ISO 6523 ICD list.
_REGISTERS: Final = {"DK": ("0184", slice(2, 10)), "NO": ("0192", slice(2, 11)), "SE": ("0007", slice(2, 12))}
_ICELANDIC: Final = "0196"


def bill(shown: Mapping[str, Any], parties: Parties) -> bytes:
    """Write an invoice or a credit note, as its type says.

    :raises DocumentIncomplete: it lacks what its profile requires; names each.
    """
    return _credit_note(shown, parties) if shown["type"] == InvoiceType.CREDIT_NOTE else _invoice(shown, parties)


def invoice(shown: Mapping[str, Any], parties: Parties) -> bytes:
    """Write an invoice or a prepayment.

    :raises InvalidFields: it is a credit note.
    :raises DocumentIncomplete: it lacks what its profile requires; names each.
    """
    if shown["type"] == InvoiceType.CREDIT_NOTE:
        raise _other_kind("It is a credit note.")
    return _invoice(shown, parties)


def credit_note(shown: Mapping[str, Any], parties: Parties) -> bytes:
    """Write a credit note.

    :raises InvalidFields: it is an invoice.
    :raises DocumentIncomplete: it lacks what its profile requires; names each.
    """
    if shown["type"] != InvoiceType.CREDIT_NOTE:
        raise _other_kind("It is an invoice.")
    return _credit_note(shown, parties)


def _other_kind(text: str) -> InvalidFields:
    return InvalidFields(errors=[FieldError("document", "invalid_choice", text)])


def _invoice(shown: Mapping[str, Any], parties: Parties) -> bytes:
    return document(
        "Invoice",
        _PROFILE,
        value("ID", shown["invoice_number"]),
        value("IssueDate", shown["issue_date"]),
        value("DueDate", shown["due_date"]),
        value("InvoiceTypeCode", TYPE_CODES[shown["type"]]),
        *_body(shown, parties, line="InvoiceLine", quantity="InvoicedQuantity"),
    )


def _credit_note(shown: Mapping[str, Any], parties: Parties) -> bytes:
    return document(
        "CreditNote",
        _PROFILE,
        value("ID", shown["invoice_number"]),
        value("IssueDate", shown["issue_date"]),
        value("CreditNoteTypeCode", TYPE_CODES[shown["type"]]),
        *_body(shown, parties, line="CreditNoteLine", quantity="CreditedQuantity"),
    )


def _body(shown: Mapping[str, Any], parties: Parties, *, line: str, quantity: str) -> Iterator[Xml]:
    """Write what invoices and credit notes have alike, from their currency on."""
    taxes, currency = joined(shown["taxes"], like=shown["net_total"]), shown["currency"]
    if errors := lacking(shown, parties, taxes):
        raise DocumentIncomplete(errors=errors)
    taxed = any(tax_code(one.category, one.rate) != OUTSIDE for one in taxes)
    yield value("DocumentCurrencyCode", currency)
    yield value("BuyerReference", shown["order"]["external_reference"] or shown["po_number"])
    yield from _references(shown)
    yield group("AccountingSupplierParty", _party(parties.supplier, taxed=taxed, asked=is_german(parties)))
    yield group("AccountingCustomerParty", _party(parties.buyer, taxed=taxed))
    yield _delivery(shown, parties)
    yield _payment(shown, parties)
    yield group("PaymentTerms", value("Note", _terms(shown)))
    yield from _of_whole(shown, "allowances", is_charge=False)
    yield from _of_whole(shown, "charges", is_charge=True)
    yield tax_total(taxes, shown["tax_total"], currency)
    yield _totals(shown, currency)
    yield from (_line(one, currency, line, quantity) for one in shown["lines"])


def _references(shown: Mapping[str, Any]) -> Iterator[Xml]:
    """Write what it refers to: the order, the invoice that is credited, and the delivery where it is one alone."""
    yield group("OrderReference", value("ID", shown["po_number"]), value("SalesOrderID", shown["order_number"]))
    if original := shown["original"]:
        of = group("InvoiceDocumentReference", value("ID", original["number"]), value("IssueDate", original["day"]))
        yield group("BillingReference", of)
    if len(shown["deliveries"]) == 1:
        yield group("DespatchDocumentReference", value("ID", shown["deliveries"][0]["number"]))


def _party(one: PartyFacts, *, taxed: bool, asked: bool = False) -> Xml:
    """Write a party; `taxed` with its VAT number, `asked` with whom to ask."""
    contact = (
        value("Name", one.name)
        + value("Telephone", one.contact["phone"])
        + value("ElectronicMail", one.contact["email"])
        if asked
        else ""
    )
    return group(
        "Party",
        identified(one),
        group("PartyName", value("Name", one.name)),
        address(one.address, one.country),
        tax_scheme(one) if taxed else "",
        legal_entity(one, _register(one)),
        group("Contact", contact),
    )


def _register(one: PartyFacts) -> Xml:
    """Write the number of a register of the party's country, where its rules name the scheme."""
    if one.country in _REGISTERS and one.vat.startswith(one.country):
        scheme, part = _REGISTERS[one.country]
        return value("CompanyID", one.vat[part], schemeID=scheme)
    return value("CompanyID", one.national, schemeID=_ICELANDIC) if one.country == "IS" else ""


def _delivery(shown: Mapping[str, Any], parties: Parties) -> Xml:
    """Write when the last of the goods left, and where they go."""
    left = [one["shipped_at"] for one in shown["deliveries"]]
    day = local_day(max(left, key=datetime.fromisoformat), parties.supplier.time_zone) if left else ""
    place = shown["order"]["delivery_address"] or {}
    where = place.get("address") or {}
    is_whole = where.get("city") and where.get("postal_code")
    at = address(where, where.get("country") or parties.buyer.country, "Address")
    return group(
        "Delivery",
        value("ActualDeliveryDate", day),
        "" if is_german(parties) and not is_whole else group("DeliveryLocation", at),
        group("DeliveryParty", group("PartyName", value("Name", place.get("name")))),
    )


def _payment(shown: Mapping[str, Any], parties: Parties) -> Xml:
    code = _NOT_DEFINED if parties.supplier.country == "DK" else _AS_AGREED
    number = "" if shown["type"] == InvoiceType.CREDIT_NOTE else value("PaymentID", shown["invoice_number"])
    return group("PaymentMeans", value("PaymentMeansCode", code), number)


def _terms(shown: Mapping[str, Any]) -> str:
    """Say what paying early saves, and what the order's terms say besides; of a credit note nothing."""
    if shown["type"] == InvoiceType.CREDIT_NOTE:
        return ""
    early, terms = shown["discount"], shown["order"]["payment_terms"] or {}
    said = [
        f"{early['percent']} % off within {early['days']} days of the date of issue" if early else "",
        terms.get("note"),
    ]
    return ". ".join(one for one in said if one)


def _of_whole(shown: Mapping[str, Any], name: str, *, is_charge: bool) -> Iterator[Xml]:
    """Write charges or allowances of the whole document."""
    for one in shown[name]:
        yield group(
            "AllowanceCharge",
            value("ChargeIndicator", "true" if is_charge else "false"),
            value("AllowanceChargeReason", one["reason"]) or value("AllowanceChargeReason", "Other"),
            value("Amount", _sum([one], "amount", like=shown["net_total"]), currencyID=shown["currency"]),
            tax_category(one["tax_category"], one["tax_rate"], name="TaxCategory"),
        )


def _sum(entries: Iterable[Mapping[str, Any]], member: str, *, like: str) -> str:
    """Return the sum of a member of entries, with the decimals of another amount; empty where there are none."""
    amounts = [Decimal(one[member]) for one in entries]
    return f"{sum(amounts, Decimal(0)).quantize(Decimal(like)):f}" if amounts else ""


def _totals(shown: Mapping[str, Any], currency: str) -> Xml:
    net, gross = shown["net_total"], shown["gross_total"]
    return group(
        "LegalMonetaryTotal",
        value("LineExtensionAmount", _sum(shown["lines"], "line_total", like=net), currencyID=currency),
        value("TaxExclusiveAmount", net, currencyID=currency),
        value("TaxInclusiveAmount", gross, currencyID=currency),
        value("AllowanceTotalAmount", _sum(shown["allowances"], "amount", like=net), currencyID=currency),
        value("ChargeTotalAmount", _sum(shown["charges"], "amount", like=net), currencyID=currency),
        value("PayableAmount", gross, currencyID=currency),
    )


def _line(line: Mapping[str, Any], currency: str, name: str, quantity: str) -> Xml:
    unit = line["base_unit"]
    return group(
        name,
        value("ID", line["line_no"]),
        value(quantity, line["base_quantity"], unitCode=unit),
        value("LineExtensionAmount", line["line_total"], currencyID=currency),
        group("OrderLineReference", value("LineID", line["order_line_no"])),
        _allowance(line, currency),
        item(line, tax=tax_category(line["tax_category"], line["tax_rate"])),
        group(
            "Price",
            value("PriceAmount", line["unit_price"], currencyID=currency),
            value("BaseQuantity", line["price_base_quantity"] * line["units_per_pack"], unitCode=unit),
        ),
    )


def _allowance(line: Mapping[str, Any], currency: str) -> Xml:
    if not Decimal(line["allowance"]):
        return ""
    return group(
        "AllowanceCharge",
        value("ChargeIndicator", "false"),
        value("AllowanceChargeReasonCode", _DISCOUNT),
        value("AllowanceChargeReason", "Discount"),
        value("Amount", line["allowance"], currencyID=currency),
    )
