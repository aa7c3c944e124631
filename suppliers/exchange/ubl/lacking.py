"""What a bill lacks of what its profile requires, the rules of single countries included.

Source: EN 16931 BR-01 to BR-CO-26; Peppol BIS Billing 3, rules by country (DE-R, DK-R, GR-R, IS-R, IT-R, NL-R, NO-R, SE-R).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from core.errors import FieldError
from suppliers.exchange.parties import Parties, PartyFacts

from .common import missing_of_parties
from .taxes import OUTSIDE, REVERSE, WITHIN_UNION, Taxed, tax_code

_PLACE: Final = ("lines", "city", "postal_code")
_CITY: Final = ("city", "postal_code")
# By the supplier's country: what must be known of its address, and of the buyer's where both are of the country.
_ADDRESSES: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    "DE": ((), _CITY),
    "IS": (("lines", "postal_code"), ()),
    "IT": (_PLACE, ()),
    "NL": (_PLACE, _PLACE),
}
_CONTACT: Final = ("phone", "email")
# Countries whose rules ask for the number of a register, which is a part of the VAT number there.
_BY_VAT: Final = ("DK", "SE")


def is_german(parties: Parties) -> bool:
    """Tell whether both parties are in Germany, whose rules ask for more then."""
    return parties.supplier.country == parties.buyer.country == "DE"


def lacking(bill: Mapping[str, Any], parties: Parties, taxes: Sequence[Taxed]) -> list[FieldError]:
    """Return all that a bill lacks."""
    codes = {tax_code(one.category, one.rate) for one in taxes}
    errors = [*missing_of_parties(parties), *_numbers(parties, codes), *_of_countries(parties), *_of_bill(bill, codes)]
    return [*{one.field: one for one in errors}.values()]


def _required(field: str, text: str) -> FieldError:
    return FieldError(field, "required", text)


def _numbers(parties: Parties, codes: Iterable[str]) -> Iterator[FieldError]:
    """Require the numbers that categories of VAT ask for; what is not subject to VAT has none of VAT."""
    found = {*codes}
    if found - {OUTSIDE} and not parties.supplier.vat:
        yield _required("supplier.vat", "The supplier has no VAT number.")
    if found & {REVERSE, WITHIN_UNION} and not parties.buyer.vat:
        yield _required("buyer.vat", "The buyer has no VAT number, which the category of VAT asks for.")
    if OUTSIDE in found and not parties.supplier.gln:
        yield _required("supplier.gln", "The supplier has no GLN, and what is not subject to VAT names no VAT number.")


def _of_countries(parties: Parties) -> Iterator[FieldError]:
    supplier, buyer = parties
    own, both = _ADDRESSES.get(supplier.country, ((), ()))
    if supplier.country == buyer.country:
        yield from _address("supplier", supplier, [*own, *both])
        yield from _address("buyer", buyer, both)
    else:
        yield from _address("supplier", supplier, own)
    if is_german(parties):
        for member in _CONTACT:
            if not supplier.contact.get(member):
                yield _required(f"supplier.contact.{member}", "Bills between German parties name whom to ask.")
    if supplier.country in _BY_VAT and not supplier.vat.startswith(supplier.country):
        yield _required("supplier.vat", "The supplier has no VAT number of its country.")
    if supplier.country == "IS" and not supplier.national:
        yield _required("supplier.national", "The supplier has no national number.")
    if supplier.country == "GR" or supplier.vat.startswith("EL"):
        yield _required("mark", "Greek suppliers bill with a number of the tax office, which is not kept here.")


def _address(name: str, one: PartyFacts, members: Iterable[str]) -> Iterator[FieldError]:
    for member in members:
        if not one.address.get(member):
            yield _required(f"{name}.address.{member}", f"The address of the {name} does not say it.")


def _of_bill(bill: Mapping[str, Any], codes: Iterable[str]) -> Iterator[FieldError]:
    found = {*codes}
    for number, line in enumerate(bill["lines"]):
        if line["tax_rate"] is None:
            yield _required(f"lines.{number}.tax_rate", "The line has no rate of VAT.")
    if bill["original_invoice_id"] is None and Decimal(bill["gross_total"]) > 0 and not bill["due_date"]:
        yield _required("due_date", "It does not say when it is due.")
    if WITHIN_UNION in found and not bill["deliveries"]:
        yield _required("delivery_ids", "An intra-community supply names the delivery.")
    if OUTSIDE in found and len(found) > 1:
        yield FieldError("taxes", "invalid", "What is not subject to VAT stands on a bill of its own.")
