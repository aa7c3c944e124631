"""Who the two parties of a document are: names, numbers, addresses, and where their post boxes in the network are.

A supplier says it in its profile, which buyers may read; a buyer's organization has it. Source: contract, supply-shelf.md
"Supplier profile", organizations.md "Organization".
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core.arrays import array_literal
from core.db import bind_call
from core.identifiers import gln, vat_number
from core.pipeline import Call, Statement, run
from suppliers.marketplace.queries import as_market

# Electronic address schemes of VAT numbers by country. Source: Peppol code list of participant identifier schemes, 9.
_VAT_SCHEMES: Final = {
    "AT": "9914", "BE": "9925", "BG": "9926", "CH": "9927", "CY": "9928", "CZ": "9929", "DE": "9930", "EE": "9931",
    "EL": "9933", "ES": "9920", "FI": "0213", "FR": "9957", "GB": "9932", "HR": "9934", "HU": "9910", "IE": "9935",
    "IT": "0211", "LT": "9937", "LU": "9938", "LV": "9939", "MT": "9943", "NL": "9944", "PL": "9945", "PT": "9946",
    "RO": "9947", "RS": "9948", "SI": "9949", "SK": "9950", "TR": "9952",
}  # fmt: skip
GLN_SCHEME: Final = "0088"


class PartyRow(NamedTuple):
    """A tenant with its organization; JSON as text."""

    id: UUID
    name: str
    organization: str
    identifiers: str
    address: str
    contact: str
    time_zone: str


class ProfileRow(NamedTuple):
    """What a supplier says of itself; JSON as text."""

    legal_name: str
    country: str
    registrations: str


_PARTIES = Statement.of(
    "SELECT n.id, n.name, o.name AS organization, o.identifiers::text AS identifiers, o.address::text AS address,"
    " o.contact::text AS contact, n.time_zone"
    " FROM organizations_tenant n JOIN organizations_organization o ON o.id = n.organization_id WHERE n.id = ANY($1::uuid[])",
    row=PartyRow,
)
_MANAGED = Statement.of(
    "SELECT s.legal_name, s.country, s.registrations::text AS registrations FROM suppliers_managedsupplier s"
    " WHERE s.tenant_id = $1 AND s.supplier_id = $2",
    row=ProfileRow,
)
_PROFILE = Statement.of(
    "SELECT f.legal_name, f.country, f.registrations::text AS registrations FROM suppliers_supplierprofile f"
    " WHERE f.tenant_id = $1",
    row=ProfileRow,
)


class Endpoint(NamedTuple):
    """Where a party takes documents: its number, and the scheme of the number."""

    scheme: str
    number: str


class PartyFacts(NamedTuple):
    """A party as a document names it; empty where nothing is known. `national` is its number in a register of its country."""

    name: str
    vat: str
    gln: str
    national: str
    country: str
    address: Mapping[str, Any]
    contact: Mapping[str, Any]
    time_zone: str

    @property
    def endpoint(self) -> Endpoint | None:
        """The electronic address: the GLN, else the VAT number; None without both."""
        if self.gln:
            return Endpoint(GLN_SCHEME, self.gln)
        scheme = _VAT_SCHEMES.get(self.vat[:2])
        return Endpoint(scheme, self.vat) if scheme else None


class Parties(NamedTuple):
    """The supplier and the buyer of a document."""

    supplier: PartyFacts
    buyer: PartyFacts


def read_parties(tenant_id: UUID, supplier_id: UUID, buyer_id: UUID) -> Parties:
    """Read the parties of a document that the tenant may see; a supplier's own addresses are not among it."""
    found = run(
        [
            bind_call(tenant_id),
            Call(_PARTIES, [array_literal([supplier_id, buyer_id])]),
            Call(_MANAGED, [str(tenant_id), str(supplier_id)]),
            *as_market([Call(_PROFILE, [str(supplier_id)])]),
        ]
    )
    rows = {one.id: one for one in found[1].of(PartyRow)}
    profiles = [*found[2].of(ProfileRow), *found[-1].of(ProfileRow)]
    return Parties(_facts(rows[supplier_id], profiles), _facts(rows[buyer_id], ()))


def _facts(row: PartyRow, profiles: Sequence[ProfileRow]) -> PartyFacts:
    address = orjson.loads(row.address or "{}") or {}
    numbers = {_scheme(one["system"]): one["value"] for one in orjson.loads(row.identifiers or "[]")}
    name, country = row.organization or row.name, address.get("country", "")
    for one in profiles:
        name, country = one.legal_name or name, one.country or country
        numbers |= {entry["scheme"].upper(): entry["value"] for entry in orjson.loads(one.registrations)}
    if address.get("country", country) != country:
        address = {}
    return PartyFacts(
        name,
        vat_number(numbers.get("VAT", "")) or "",
        gln(numbers.get("GLN", "")) or "",
        numbers.get("NATIONAL", ""),
        country,
        address,
        orjson.loads(row.contact or "{}") or {},
        row.time_zone,
    )


def _scheme(system: str) -> str:
    """Return the scheme that an organization's identifier is of, from a name such as `urn:gln`."""
    return system.replace("/", ":").rsplit(":", 1)[-1].upper()
