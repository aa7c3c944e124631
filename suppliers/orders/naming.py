"""What the lines of a draft name: products by id, by the buyer's own code, by GTIN, or goods of a managed supplier in free text."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows, Statement
from organizations.public import PartyClosed
from suppliers.quoting.candidates import Asked


class Seller(NamedTuple):
    """A supplier as orders need to know it; `is_seen`: the buyer may order there, sooner or later."""

    name: str
    status: str
    is_managed: bool
    is_seen: bool
    is_qualified: bool
    accept_within_hours: int
    auto_allocate: bool
    merged_into: UUID | None


class _Alias(NamedTuple):
    """A code of the buyer for a product of the supplier."""

    own_code: str
    product_id: UUID


class _Coded(NamedTuple):
    """A packaging of the supplier with a GTIN."""

    gtin: str
    product_id: UUID
    packaging_id: UUID


# Bound to the supplier: its profile is its own. A managed one has none, and is its buyer's alone.
_SELLER = Statement.of(
    "SELECT n.name, n.status, n.managed_by_id IS NOT NULL AS is_managed, 'supplier' = ANY(n.kinds)"
    " AND (n.managed_by_id = $2 OR n.managed_by_id IS NULL AND (f.tenant_id IS NOT NULL OR n.status = 'closed')) AS is_seen,"
    " n.managed_by_id IS NOT NULL OR coalesce(f.qualification_status = 'qualified', false) AS is_qualified,"
    " coalesce((f.order_settings ->> 'accept_within_hours')::int, 48) AS accept_within_hours,"
    " coalesce((f.order_settings ->> 'auto_allocate')::boolean, false) AS auto_allocate, n.merged_into_id AS merged_into"
    " FROM organizations_tenant n LEFT JOIN suppliers_supplierprofile f ON f.tenant_id = $1 AND f.tenant_id = n.id"
    " WHERE n.id = $1",
    row=Seller,
)
_ALIASES = Statement.of(
    "SELECT i.own_code, i.product_id FROM suppliers_itemalias i"
    " WHERE i.tenant_id = $1 AND i.supplier_id = $2 AND i.own_code = ANY($3::text[])",
    row=_Alias,
)
_GTINS = Statement.of(
    "SELECT k.gtin, k.product_id, k.id AS packaging_id FROM suppliers_packaging k"
    " JOIN suppliers_product p ON p.tenant_id = k.tenant_id AND p.id = k.product_id AND p.tenant_id = $1"
    " WHERE k.tenant_id = $1 AND k.gtin = ANY($2::text[]) AND k.state = 'current' AND p.archived_at IS NULL",
    row=_Coded,
)
_MESSAGES: Final = {
    "unknown_product": "You are offered no such product of this supplier.",
    "ambiguous_product": "Several products of the supplier have this GTIN; name the product.",
}


def seller_call(supplier_id: UUID, buyer_id: UUID) -> Call:
    """Return the statement that reads a supplier, for a transaction bound to it; see `seller_of`."""
    return Call(_SELLER, [str(supplier_id), str(buyer_id)])


def seller_of(found: Rows) -> Seller:
    """Return the supplier that `seller_call` has read.

    :raises InvalidFields: the buyer sees no such supplier.
    :raises PartyClosed: its tenant is closed, or it was merged into a supplier on the platform, which is named.
    """
    seller = next(iter(found.of(Seller)), None)
    if seller is None or not seller.is_seen:
        raise InvalidFields(errors=[FieldError("supplier_id", "unknown_supplier", "There is no such supplier.")])
    if seller.merged_into is not None:
        raise PartyClosed(f"This supplier was merged into the supplier {seller.merged_into}: order of that one.")
    if seller.status == "closed":
        raise PartyClosed
    return seller


def aliases_call(buyer_id: UUID, supplier_id: UUID, lines: Sequence[Mapping[str, Any]]) -> Call:
    """Return the statement that reads the products that the buyer's codes of lines name, bound to the buyer."""
    codes = array_literal({one["own_code"] for one in lines if one.get("own_code")})
    return Call(_ALIASES, [str(buyer_id), str(supplier_id), codes])


def gtins_call(supplier_id: UUID, lines: Sequence[Mapping[str, Any]]) -> Call:
    """Return the statement that reads the packagings that the GTINs of lines name, bound to the supplier."""
    codes = array_literal({one["gtin"] for one in lines if one.get("gtin")})
    return Call(_GTINS, [str(supplier_id), codes])


def asked_of(lines: Sequence[Mapping[str, Any]], aliases: Rows, gtins: Rows) -> list[Asked]:
    """Return the product of each line, in their order.

    :raises InvalidFields: names each line with a code or a GTIN that names no product, or several.
    """
    own = {one.own_code: one.product_id for one in aliases.of(_Alias)}
    coded: dict[str, list[_Coded]] = defaultdict(list)
    for one in gtins.of(_Coded):
        coded[one.gtin].append(one)
    found, errors = list[Asked](), list[FieldError]()
    for number, line in enumerate(lines):
        product_id, packaging_id, fault = _named(line, own, coded)
        if fault:
            member, code = fault
            errors.append(FieldError(f"lines.{number}.{member}", code, _MESSAGES[code]))
        found.append(Asked(product_id, None, None, packaging_id, line.get("offer_id")))
    if errors:
        raise InvalidFields(errors=errors)
    return found


def _named(
    line: Mapping[str, Any], own: Mapping[str, UUID], coded: Mapping[str, Sequence[_Coded]]
) -> tuple[UUID | None, UUID | None, tuple[str, str] | None]:
    """Return the product and the packaging that a line names; else the member at fault, and the code of the fault."""
    packaging_id: UUID | None = line.get("packaging_id")
    if product_id := line.get("product_id"):
        return product_id, packaging_id, None
    if line.get("own_code"):
        product_id = own.get(line["own_code"])
        return product_id, packaging_id, None if product_id else ("own_code", "unknown_product")
    packagings = coded.get(line["gtin"], [])
    if len({one.product_id for one in packagings}) != 1:
        return None, None, ("gtin", "ambiguous_product" if packagings else "unknown_product")
    return packagings[0].product_id, packaging_id or packagings[0].packaging_id, None


def check_kind(seller: Seller, lines: Sequence[Mapping[str, Any]]) -> None:
    """Require goods in words of a managed supplier, and products of any other.

    :raises InvalidFields: names each line that is of the other kind.
    """
    in_words = {number for number, one in enumerate(lines) if one["description"]}
    if seller.is_managed:
        message, wrong = "A managed supplier has no products: describe the goods.", {*range(len(lines))} - in_words
    else:
        message, wrong = "Name a product of the supplier; only a managed one takes goods in words.", in_words
    if wrong:
        raise InvalidFields(
            errors=[FieldError(f"lines.{number}", "unknown_product", message) for number in sorted(wrong)]
        )
