"""Quotes: what the lines of a body name is found, priced and added up. Source: contract, supply-price.md 3."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from core.clock import rfc3339
from core.errors import FieldError, InvalidFields
from suppliers.pricing.amounts import shown

from .candidates import Asked, Good
from .lines import Asking, PricedLine, price_lines
from .totals import Net, totals_of


def asked_of(items: Sequence[Mapping[str, Any]], code: str) -> list[Asked]:
    """Return the lines of a body as the statement takes them; `code` is the member that may name a product."""
    return [
        Asked(one["product_id"], one[code] or None, one.get("supplier_id"), one["packaging_id"], one["offer_id"])
        for one in items
    ]


def quote_of(
    goods: Sequence[Good],
    data: Mapping[str, Any],
    currency: str,
    *,
    taken: Mapping[UUID, int],
    own_codes: Collection[str] | None = None,
) -> dict[str, Any]:
    """Return a quote as clients read it; `own_codes`, of a buyer alone, are those of the lines that the buyer has.

    `taken` are base units that the buyer has taken of offers that are short.

    :raises InvalidFields: names each line whose product or packaging there is not.
    :raises PriceNotAvailable, AgreementExhausted: as `lines.price_lines`.
    """
    items, for_buyer = data["items"], own_codes is not None
    found = _found(goods, items, own_codes)
    named = data["price_agreement_id"]
    _check_agreement(goods, named)
    asking = Asking(currency, str(named) if named else None, data["apply_corrections"], for_buyer)
    lines = price_lines(found, items, asking, taken)
    nets = [Net(one.good.row.supplier_id, one.total, one.good.row.tax_category, one.good.row.tax_rate) for one in lines]
    shown_lines = [_shown(line, for_buyer=for_buyer) for line in lines]
    return {"currency": currency, "items": shown_lines, "totals": totals_of(nets, currency)}


def _check_agreement(goods: Sequence[Good], named: UUID | None) -> None:
    """Require that a named agreement is one of the buyer's with a supplier of the lines.

    :raises InvalidFields: it is not.
    """
    if named is not None and goods and not any(str(named) in one.agreements for one in goods):
        message = "There is no such agreement in force with a supplier of these lines."
        raise InvalidFields(errors=[FieldError("price_agreement_id", "unknown_agreement", message)])


def _found(
    goods: Sequence[Good], items: Sequence[Mapping[str, Any]], own_codes: Collection[str] | None
) -> list[Good | None]:
    """Return the good of each line; None for a product that a buyer is not offered, whether there is one or not.

    :raises InvalidFields: names each line whose product or packaging there is not.
    """
    by_line: dict[int, list[Good]] = defaultdict(list)
    for one in goods:
        by_line[one.row.n - 1].append(one)
    errors: list[FieldError] = []
    for number, item in enumerate(items):
        if fault := _fault(by_line[number], item, own_codes):
            member, code, message = fault
            errors.append(FieldError(f"items.{number}{member}", code, message))
    if errors:
        raise InvalidFields(errors=errors)
    return [next(iter(by_line[number]), None) for number in range(len(items))]


def _fault(
    found: Sequence[Good], item: Mapping[str, Any], own_codes: Collection[str] | None
) -> tuple[str, str, str] | None:
    """Return member, code and message of what is wrong with the names of a line; None if nothing is."""
    if own_codes is None:
        if not found:
            return "", "unknown_product", "There is no such product."
        is_seen = True
    else:
        if item["own_code"] and item["own_code"] not in own_codes:
            return ".own_code", "unknown_product", "You have given no product this code."
        if len(found) > 1:
            return ".supplier_id", "required", "Products of several suppliers have this code; name the supplier."
        is_seen = bool(found) and found[0].row.offer is not None
    if is_seen and found[0].row.packaging_id is None:
        return ".packaging_id", "unknown_packaging", "The product has no such packaging."
    return None


def _shown(line: PricedLine, *, for_buyer: bool) -> dict[str, Any]:
    row, price, measured = line.good.row, line.price, line.measured
    packs, rest = divmod(measured.base_quantity, row.units_per_pack or 1)
    own = {"own_code": row.own_code} if for_buyer else {}
    return {
        "product_id": row.product_id,
        "supplier_sku": row.supplier_sku,
        **own,
        "supplier_id": row.supplier_id,
        "packaging_id": row.packaging_id,
        "offer_id": row.offer_id if row.suits else None,
        "quantity": None if rest else packs,
        "base_quantity": measured.base_quantity,
        "base_unit": row.base_unit,
        "unit_price": shown(price.unit_price),
        "price_base_quantity": price.price_base_quantity,
        "line_total": f"{line.total:f}",
        "list_price": None if line.list_price is None else shown(line.list_price),
        "discount": None if line.discount is None else f"{line.discount:f}",
        "source": price.source.text,
        "source_id": price.source_id,
        "trace": price.trace,
        "tax_category": row.tax_category or None,
        "tax_rate": row.tax_rate,
        "corrections": None if not measured.correction else {"quantity": measured.correction},
        "valid_until": None if line.valid_until is None else rfc3339(line.valid_until),
        "refusal": None if line.refusal is None else {"code": line.refusal},
    }
