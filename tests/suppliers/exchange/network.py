"""Parties with numbers, and short ways to ask for documents and to look into them."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from core.clock import now
from core.db import tenant_context
from organizations.models import Organization
from suppliers.catalog.models import Product
from tests.factories import Api
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.company.profiles import patched

XML, LD_JSON = "application/xml", "application/ld+json"
SUPPLIER_GLN, BUYER_GLN = "4006381000000", "7080000000012"
_SHORT = {
    "cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
    "cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2",
}


def named(trade: Trade, *, rate: str = "19") -> Trade:
    """Let both parties have names, numbers, addresses and a rate of VAT; the products are of the category S."""
    registrations = [{"scheme": "VAT", "value": "DE136695976"}, {"scheme": "GLN", "value": SUPPLIER_GLN}]
    rates = [{"tax_category": "S", "country": "DE", "rate": rate, "valid_from": "2026-01-01"}]
    patched(
        trade.shelf.api,
        legal_name="Nordic Medical & Söhne GmbH",
        country="DE",
        registrations=registrations,
        tax_rates=rates,
    )
    organization = Organization.objects.get(pk=trade.buyer.tenant.organization_id)
    organization.name = "Hospital of the North"
    organization.identifiers = [{"system": "urn:gln", "value": BUYER_GLN}]
    organization.address = {
        "lines": ["1 North Street", "House B"],
        "city": "Bonn",
        "postal_code": "53111",
        "country": "DE",
    }
    organization.save()
    with tenant_context(trade.shelf.id):
        for row in Product.objects.filter(tenant_id=trade.shelf.id):
            row.tax_category = "S"
            row.save_version("tax_category", at=now())
    return trade


def ask(api: Api, path: str, media: str = XML) -> Any:
    """Ask for a document in a media type."""
    return api.get(path, headers={"Accept": media})


def tree_of(answer: Any, media: str = XML) -> ET.Element:
    """Return the root of an answered document."""
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"] == media
    return ET.fromstring(answer.content)  # of our own service


def texts(root: ET.Element, path: str) -> list[str | None]:
    """Return the texts at a path of names without the prefixes of their kind, such as `OrderLine/LineItem/ID`."""
    names = path.split("/")
    steps = [f"cac:{one}" for one in names[:-1]] + [f"cbc:{names[-1]}"]
    return [one.text for one in root.iterfind("/".join(steps), _SHORT)]


def kept(folder: Path, *answers: tuple[str, Any]) -> list[str]:
    """Store documents; return the arguments of the validator, artifact and file."""
    found = []
    for number, (artifact, answer) in enumerate(answers):
        file = folder / f"{number}.xml"
        file.write_bytes(answer.content)
        found += [artifact, str(file)]
    return found
