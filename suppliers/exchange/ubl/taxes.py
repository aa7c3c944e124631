"""VAT in documents of UBL: codes of categories, what is taxed by each, and why some is not. Source: EN 16931, UNCL 5305."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from core.canonical import decimal_text

from .xml import Xml, group, value

VAT: Final = group("TaxScheme", value("ID", "VAT"))
STANDARD, OUTSIDE, REVERSE, WITHIN_UNION = "S", "O", "AE", "K"
# Codes by words in a supplier's own category, where its rate is zero.
_FREE: Final = {"exempt": "E", "reverse": REVERSE, "export": "G", "intra": WITHIN_UNION, "outside": OUTSIDE}
_ZERO_RATED: Final = "Z"
# Why there is no tax: a code of VATEX where there is one, and words. Source: EN 16931 BR-E-10, BR-AE-10, BR-G-10, BR-IC-10, BR-O-10.
_REASONS: Final = {
    "E": ("", "Exempt from VAT"),
    REVERSE: ("VATEX-EU-AE", "Reverse charge"),
    "G": ("VATEX-EU-G", "Export outside the EU"),
    WITHIN_UNION: ("VATEX-EU-IC", "Intra-community supply"),
    OUTSIDE: ("VATEX-EU-O", "Not subject to VAT"),
}


def tax_code(category: str | None, rate: str | None) -> str:
    """Return the code of a category of VAT: standard where there is a rate, else what the category's name says."""
    if Decimal(rate or 0):
        return STANDARD
    return next((code for word, code in _FREE.items() if word in (category or "").lower()), _ZERO_RATED)


def tax_category(
    category: str | None, rate: str | None, *, name: str = "ClassifiedTaxCategory", reasoned: bool = False
) -> Xml:
    """Write a category of VAT with its rate in percent; `reasoned` with why there is no tax."""
    code = tax_code(category, rate)
    reason, words = _REASONS.get(code, ("", "")) if reasoned else ("", "")
    return group(
        name,
        value("ID", code),
        "" if code == OUTSIDE else value("Percent", rate),
        value("TaxExemptionReasonCode", reason),
        value("TaxExemptionReason", words),
        VAT,
    )


class Taxed(NamedTuple):
    """What is taxed by one code at one rate, and the tax on it."""

    category: str
    rate: str
    net: Decimal
    tax: Decimal


def joined(taxes: Iterable[Mapping[str, Any]], *, like: str) -> list[Taxed]:
    """Join the taxes of a supplier's own categories by code and rate, so that there is one sum of each.

    Amounts have the decimals of the amount `like`.
    """
    places = Decimal(like)
    found: dict[tuple[str, str], Taxed] = {}
    for one in taxes:
        rate = decimal_text(Decimal(one["tax_rate"]))
        key = (tax_code(one["tax_category"], rate), rate)
        before = found.get(key) or Taxed(one["tax_category"], rate, Decimal(0), Decimal(0))
        net, tax = before.net + Decimal(one["net"]), before.tax + Decimal(one["tax"])
        found[key] = before._replace(net=net.quantize(places), tax=tax.quantize(places))
    return [*found.values()]


def tax_total(taxes: Iterable[Taxed], total: str | None, currency: str) -> Xml:
    """Write the tax of a document with that of each category and rate."""
    return group("TaxTotal", value("TaxAmount", total, currencyID=currency), *_subtotals(taxes, currency))


def _subtotals(taxes: Iterable[Taxed], currency: str) -> Iterator[Xml]:
    for one in taxes:
        yield group(
            "TaxSubtotal",
            value("TaxableAmount", f"{one.net:f}", currencyID=currency),
            value("TaxAmount", f"{one.tax:f}", currencyID=currency),
            tax_category(one.category, one.rate, name="TaxCategory", reasoned=True),
        )
