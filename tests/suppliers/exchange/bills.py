"""Bills between parties of a country, and short ways to ask for them as documents."""

from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

from organizations.models import Organization
from tests.suppliers.company.profiles import patched
from tests.suppliers.exchange import network
from tests.suppliers.exchange.network import BUYER_GLN, SUPPLIER_GLN, ask, texts, tree_of
from tests.suppliers.invoices import bills
from tests.suppliers.invoices.bills import PATH, Desk

IBAN = "DE89370400440532013000"
VATS = {
    "DE": "DE136695976", "FR": "FR40303265045", "NL": "NL004495445B01", "DK": "DK13585628", "SE": "SE123456789701",
    "NO": "NO995525828MVA", "IT": "IT00743110157", "AT": "ATU13585627",
}  # fmt: skip
CONTACT = {"phone": "+49 40 1234567", "email": "billing@supplier.example"}
_ADDRESS = {"lines": ["1 Harbour Road"], "city": "Hamburg", "postal_code": "20457"}


def desk() -> Desk:
    """Make a supplier and a hospital in Germany that are known in the network, and can be billed."""
    made = bills.desk()
    network.named(made.dock.trade)
    seller(made)
    patched(made.supplier, bank_account={"iban": IBAN, "bic": "COBADEFFXXX", "holder": "Nordic"})
    return made


def seller(of: Desk, country: str = "DE", **organization: Any) -> None:
    """Let the supplier be in a country."""
    numbers = [{"scheme": "VAT", "value": VATS[country]}, {"scheme": "GLN", "value": SUPPLIER_GLN}]
    patched(of.supplier, country=country, registrations=numbers)
    settle(of.dock.shelf.tenant, **{"address": _ADDRESS | {"country": country}, "contact": CONTACT} | organization)


def buyer(of: Desk, country: str) -> None:
    """Let the buyer be in a country, with a VAT number."""
    address = {"lines": ["1 North Street"], "city": "Bonn", "postal_code": "53111", "country": country}
    numbers = [{"system": "urn:gln", "value": BUYER_GLN}, {"system": "urn:vat", "value": VATS[country]}]
    settle(of.dock.buyer.tenant, address=address, identifiers=numbers)


def settle(tenant: Any, **members: Any) -> None:
    """Change members of the organization of a tenant."""
    row = Organization.objects.get(pk=tenant.organization_id)
    for name, given in members.items():
        setattr(row, name, given)
    row.save()


def document(of: Desk, invoice: dict[str, Any], query: str = "") -> ET.Element:
    """Return the document of an invoice, which both parties read alike."""
    return ET.fromstring(content(of, invoice, query))  # of our own service


def content(of: Desk, invoice: dict[str, Any], query: str = "") -> bytes:
    """Return the text of the document of an invoice, which both parties read alike."""
    own, other = (ask(one, f"{PATH}/{invoice['id']}{query}") for one in (of.clerk, of.supplier))
    tree_of(own)
    assert (other.status_code, other.content) == (200, own.content)
    return bytes(own.content)


def amounts(root: ET.Element, path: str) -> list[Decimal]:
    """Return the amounts at a path."""
    return [Decimal(one or "") for one in texts(root, path)]


def written(root: ET.Element) -> list[str]:
    """Return all amounts of a document but prices."""
    found = [one for one in root.iter() if one.get("currencyID") and not one.tag.endswith("}PriceAmount")]
    return [one.text or "" for one in found]


def check_totals(root: ET.Element, invoice: dict[str, Any], line: str = "InvoiceLine") -> None:
    """Require that a document has the totals of the invoice, digit by digit, and adds up to them."""
    total = "LegalMonetaryTotal"
    assert texts(root, f"{total}/TaxExclusiveAmount") == [invoice["net_total"]]
    assert texts(root, f"{total}/TaxInclusiveAmount") == [invoice["gross_total"]]
    assert texts(root, f"{total}/PayableAmount") == [invoice["gross_total"]]
    assert texts(root, "TaxTotal/TaxAmount") == [invoice["tax_total"]]
    places = {len(one.partition(".")[2]) for one in (invoice["gross_total"], *written(root))}
    assert len(places) == 1
    lines = amounts(root, f"{line}/LineExtensionAmount")
    assert [f"{one}" for one in lines] == [one["line_total"] for one in invoice["lines"]]
    (sum_of_lines,) = amounts(root, f"{total}/LineExtensionAmount")
    assert sum(lines) == sum_of_lines
    charged, allowed = (sum(amounts(root, f"{total}/{one}TotalAmount")) for one in ("Charge", "Allowance"))
    assert sum_of_lines + charged - allowed == Decimal(invoice["net_total"])
    assert sum(amounts(root, "TaxTotal/TaxSubtotal/TaxableAmount")) == Decimal(invoice["net_total"])
    assert sum(amounts(root, "TaxTotal/TaxSubtotal/TaxAmount")) == Decimal(invoice["tax_total"])
