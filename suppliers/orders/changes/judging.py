"""What a change asks of the goods that it orders more of: on offer, in quantities that can be ordered, approved, licensed.

Lines keep their price; further lines of the buyer are priced as of now. Source: contract, supply-order.md 2 "States".
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.errors import FieldError, PlatformError
from core.ids import uuid7
from core.pipeline import Call, Rows
from suppliers.marketplace.quantities import Orderable, corrected
from suppliers.marketplace.refusals import OrderQuantityInvalid
from suppliers.orders.judging import check_offers, check_quantities
from suppliers.orders.limits import agreed_call, note_agreements
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.pricing import Terms, manual_lines, priced_lines, reading_calls
from suppliers.orders.progress import counted
from suppliers.orders.standing import Share, Standing, check_formulary, check_licenses, shares_call
from suppliers.quoting.candidates import Asked, Good, goods_of
from suppliers.relationships.formulary import paths_call, paths_of


def goods_calls(terms: Terms, added: Sequence[Asked], grown: Sequence[PurchaseOrderLine], at: datetime) -> list[Call]:
    """Return the statements that read what further lines and grown ones are, for a transaction bound to the supplier."""
    of_grown = [Asked(one.product_id, None, None, one.packaging_id, one.offer_id) for one in grown]
    products = sorted({one.product_id for one in [*added, *of_grown] if one.product_id})
    own = terms.supplier_id
    return [
        *reading_calls(terms, [*added, *of_grown], at),
        shares_call(own, products, at),
        paths_call(own, products),
        agreed_call(own, products, terms.buyer_id),
    ]


def further_lines(
    terms: Terms, row: PurchaseOrder, added: Sequence[Mapping[str, Any]], found: Sequence[Rows], *, is_managed: bool
) -> list[PurchaseOrderLine]:
    """Return the further lines that a buyer asks for, at the prices of now; `found` are the rows of `goods_calls`.

    :raises PriceNotAvailable, AgreementExhausted, OfferNotAvailable, OrderQuantityInvalid, InvalidFields: name each.
    """
    if not added:
        return []
    goods, sold, *_, agreed = found
    if is_managed:
        now = manual_lines(terms, added)
    else:
        of_lines = goods_of(goods)
        check_offers(of_lines, len(added))
        now = priced_lines(terms, of_lines, sold, added)
        check_quantities(now)
    own = {"tenant_id": row.tenant_id, "order_id": row.pk, "line_no": 0}
    made = [PurchaseOrderLine(id=uuid7(), **own, **one.values) for one in now]
    note_agreements(made, agreed)
    return made


def judge(
    standing: Standing,
    added: Sequence[PurchaseOrderLine],
    grown: Sequence[PurchaseOrderLine],
    found: Sequence[Rows],
    *,
    is_managed: bool,
) -> Sequence[Share]:
    """Hold what is ordered more to what the supplier offers and the buyer approves; return the offers that are short.

    :raises OfferNotAvailable, OrderQuantityInvalid, NotOnFormulary: name each line, further ones first.
    """
    goods, _, shares, paths, _ = found
    if not is_managed:
        of_lines = goods_of(goods)
        check_offers([one for one in of_lines if one.row.n > len(added)], len(grown), first=len(added))
        _check_grown(of_lines, grown, len(added))
        check_formulary(standing, [*added, *grown], paths_of(paths))
    return shares.of(Share)


def substitutes_calls(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], at: datetime) -> list[Call]:
    """Return the statements that read the categories of some lines, and which offers are short, bound to the supplier."""
    own, products = row.supplier_tenant_id, sorted({one.product_id for one in lines if one.product_id})
    return [paths_call(own, products), shares_call(own, products, at)]


def judge_substitutes(standing: Standing, lines: Sequence[PurchaseOrderLine], found: Sequence[Rows]) -> Sequence[Share]:
    """Hold the lines of substitutes to what the buyer approves; `found` are the rows of `substitutes_calls`.

    :raises NotOnFormulary, LicenseMissing: name each line.
    """
    paths, shares = found
    check_formulary(standing, lines, paths_of(paths))
    check_licenses(standing, lines)
    return shares.of(Share)


def _check_grown(goods: Sequence[Good], grown: Sequence[PurchaseOrderLine], first: int) -> None:
    """Require quantities of grown lines that can be ordered.

    :raises OrderQuantityInvalid: names each line with what to ask for instead, in base units.
    """
    by_line = {one.row.n - 1: one.row for one in goods}
    errors = []
    for number, line in enumerate(grown, first):
        row = by_line[number]
        if row.least is None or row.step is None:
            continue
        units = line.units_per_pack
        packs = corrected(counted(line), units, Orderable(row.least, row.most, row.step))
        if packs is not None:
            message, told = f"Ask for {packs * units} base units.", {"corrections": {"base_quantity": packs * units}}
            errors.append(FieldError(f"lines.{number}.quantity", OrderQuantityInvalid.code, message, told))
    if errors:
        raise OrderQuantityInvalid(errors=errors)


@contextmanager
def named_as(places: Sequence[str]) -> Iterator[None]:
    """Let refusals name lines as the request does: `lines.2` is the third of `places`."""
    try:
        yield
    except PlatformError as error:
        if not error.errors:
            raise
        raise type(error)(errors=[replace(one, field=_place(one.field, places)) for one in error.errors]) from None


def _place(field: str, places: Sequence[str]) -> str:
    first, _, rest = field.partition(".")
    number, dot, member = rest.partition(".")
    if first != "lines" or not number.isdigit() or int(number) >= len(places):
        return field
    return f"{places[int(number)]}{dot}{member}"
