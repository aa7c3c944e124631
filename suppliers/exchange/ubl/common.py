"""What the documents of UBL share: parties, items, quantities, and what a profile misses. Source: Peppol BIS 3."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from core.errors import FieldError
from suppliers.exchange.parties import GLN_SCHEME, Parties, PartyFacts
from suppliers.exchange.refusals import DocumentIncomplete

from .taxes import VAT
from .xml import Xml, group, value

_GTIN: Final = "0160"


def check_parties(parties: Parties) -> None:
    """Require what every profile asks of both parties.

    :raises DocumentIncomplete: a party has no electronic address or no country; names each.
    """
    if errors := missing_of_parties(parties):
        raise DocumentIncomplete(errors=errors)


def missing_of_parties(parties: Parties) -> list[FieldError]:
    """Return what every profile asks of both parties, and is not known: electronic addresses, countries."""
    wanted = [
        (f"{name}.{member}", found, text)
        for name, one in (("supplier", parties.supplier), ("buyer", parties.buyer))
        for member, found, text in (
            ("endpoint", one.endpoint, f"The {name} has neither a GLN nor a VAT number."),
            ("country", one.country, f"The {name} has no country."),
        )
    ]
    return [FieldError(place, "required", text) for place, found, text in wanted if not found]


def local_day(instant: str, zone: str) -> str:
    """Return the day of an instant in a time zone."""
    return datetime.fromisoformat(instant).astimezone(ZoneInfo(zone)).date().isoformat()


def address(shown: Mapping[str, Any], country: str, name: str = "PostalAddress") -> Xml:
    """Write an address; `shown` has its lines, city, state and postal code."""
    lines = [*(shown.get("lines") or ())]
    return group(
        name,
        value("StreetName", lines[0] if lines else ""),
        value("AdditionalStreetName", ", ".join(lines[1:])),
        value("CityName", shown.get("city")),
        value("PostalZone", shown.get("postal_code")),
        value("CountrySubentity", shown.get("state")),
        group("Country", value("IdentificationCode", country)),
    )


def _endpoint(one: PartyFacts) -> Xml:
    """Write the electronic address of a party."""
    found = one.endpoint
    return value("EndpointID", found.number, schemeID=found.scheme) if found else ""


def party(one: PartyFacts, *, taxed: bool = False, where: Mapping[str, Any] | None = None) -> Xml:
    """Write a party; `taxed` with its VAT number, and with its own address, or with that `where` goods go to."""
    number = value("CompanyID", one.gln, schemeID=GLN_SCHEME)
    return group(
        "Party",
        identified(one),
        address(where or one.address, (where or {}).get("country") or one.country),
        tax_scheme(one) if taxed else "",
        legal_entity(one, number if taxed else ""),
    )


def named_party(one: PartyFacts, name: str = "Party") -> Xml:
    """Write a party by its electronic address, number and legal name alone."""
    return group(name, identified(one), legal_entity(one))


def identified(one: PartyFacts) -> Xml:
    """Write the electronic address and the number of a party."""
    return _endpoint(one) + group("PartyIdentification", value("ID", one.gln, schemeID=GLN_SCHEME))


def tax_scheme(one: PartyFacts) -> Xml:
    """Write the VAT number of a party."""
    return group("PartyTaxScheme", value("CompanyID", one.vat), VAT) if one.vat else ""


def legal_entity(one: PartyFacts, number: Xml = "") -> Xml:
    """Write the legal name of a party, with a number of a register."""
    return group("PartyLegalEntity", value("RegistrationName", one.name), number)


def item(line: Mapping[str, Any], *, further: Xml = "", tax: Xml = "") -> Xml:
    """Write the goods of a line by its snapshot; `further` stands behind its numbers, `tax` at the end."""
    return group(
        "Item",
        value("Name", line["name"]),
        group("SellersItemIdentification", value("ID", line.get("supplier_sku"))),
        group("StandardItemIdentification", value("ID", line.get("gtin"), schemeID=_GTIN)),
        further,
        tax,
    )


@dataclass(frozen=True, slots=True)
class Kept:
    """A line of an order with the base units and the net that count: all that was ordered, or what is not cancelled."""

    line: Mapping[str, Any]
    quantity: int
    net: Decimal


def kept_lines(order: Mapping[str, Any]) -> list[Kept]:
    """Return the lines of an order whose nets make up its total: what is not cancelled (decision 110).

    An order that is cancelled wholly keeps the total of what was asked for, and so its lines.
    """
    lines = order["lines"]
    rests = [(one, one["ordered"] - one["cancelled"]) for one in lines]
    if kept := [Kept(one, rest, Decimal(one["line_total"])) for one, rest in rests if rest]:
        return kept
    return [Kept(one, one["ordered"], _asked(one, Decimal(order["totals"]["net"]))) for one in lines]


def _asked(line: Mapping[str, Any], total: Decimal) -> Decimal:
    """Return what all of a line costs, with the decimals of a total."""
    goods = line["snapshot"]
    per = goods["price_base_quantity"] * goods["units_per_pack"]
    net: Decimal = Decimal(goods["unit_price"]) * line["ordered"] / per
    return net.quantize(total, rounding=ROUND_HALF_UP)
