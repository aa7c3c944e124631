"""What a submit asks of the lines of an order as they are now: on offer, in quantities that can be ordered, at the price of the draft."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from core.errors import FieldError
from core.pipeline import Call, Rows
from suppliers.marketplace.refusals import OfferNotAvailable, OrderQuantityInvalid
from suppliers.pricing.amounts import shown
from suppliers.quoting.candidates import Asked, Good, goods_of
from suppliers.relationships.formulary import paths_call, paths_of

from .finding import as_asked
from .limits import agreed_call, note_agreements
from .models import PurchaseOrder, PurchaseOrderLine
from .pricing import OrderedLine, Terms, manual_lines, priced_lines, reading_calls, totals
from .refusals import PriceChanged
from .sending import LINE_COLUMNS
from .standing import Share, Standing, check_formulary, check_licenses, shares_call

_KEPT: Final = ("accepted", "tolerance")


class Judged(NamedTuple):
    """The lines of an order with all that was read of them at the supplier."""

    shares: Sequence[Share]
    changed: list[str]


def reading_of(terms: Terms, lines: Sequence[PurchaseOrderLine], at: datetime) -> list[Call]:
    """Return the statements that read what `judge` takes, for a transaction bound to the supplier."""
    products = sorted({one.product_id for one in lines if one.product_id})
    asked = [Asked(one.product_id, None, None, one.packaging_id, one.offer_id) for one in lines]
    own = terms.supplier_id
    return [
        *reading_calls(terms, asked, at),
        shares_call(own, products, at),
        paths_call(own, products),
        agreed_call(own, products, terms.buyer_id),
    ]


def judge(
    terms: Terms,
    row: PurchaseOrder,
    lines: Sequence[PurchaseOrderLine],
    standing: Standing,
    found: Sequence[Rows],
    *,
    accepts_prices: bool,
    is_managed: bool,
) -> Judged:
    """Hold a draft's lines to what the supplier offers now, and take over its prices; `found` are the rows of `reading_of`.

    :raises NotOnFormulary, OfferNotAvailable, PriceChanged, OrderQuantityInvalid, LicenseMissing: name each line.
    :raises PriceNotAvailable, AgreementExhausted, InvalidFields: as `pricing.priced_lines`.
    """
    goods, sold, shares, paths, agreed = found
    if is_managed:
        now = manual_lines(terms, [as_asked(one) for one in lines])
    else:
        check_formulary(standing, lines, paths_of(paths))
        by_line = goods_of(goods)
        check_offers(by_line, len(lines))
        now = priced_lines(terms, by_line, sold, [as_asked(one) for one in lines])
        _check_prices(lines, now, accepts=accepts_prices)
        check_quantities(now)
    for line, one in zip(lines, now, strict=True):
        for name in LINE_COLUMNS:
            if name not in _KEPT:
                setattr(line, name, one.values[name])
    check_licenses(standing, lines)
    note_agreements(lines, agreed)
    return Judged(shares.of(Share), row.assign(totals(terms, now)))


def check_offers(goods: Sequence[Good], count: int, *, first: int = 0) -> None:
    """Require an offer of each line's product and packaging that the buyer sees, and the very one that it names.

    The lines are `count` from the one with the number `first` on.

    :raises OfferNotAvailable: names each line.
    """
    offered = {one.row.n - 1 for one in goods if one.row.offer is not None and one.row.suits}
    message = "You are offered no such product and packaging."
    errors = [
        FieldError(f"lines.{number}", OfferNotAvailable.code, message)
        for number in range(first, first + count)
        if number not in offered
    ]
    if errors:
        raise OfferNotAvailable(errors=errors)


def _check_prices(lines: Sequence[PurchaseOrderLine], now: Sequence[OrderedLine], *, accepts: bool) -> None:
    """Require that prices are those of the draft, unless the buyer accepts others.

    :raises PriceChanged: names each line with the old and the new price.
    """
    errors = []
    for number, (line, one) in enumerate(zip(lines, now, strict=True)):
        old = {"unit_price": shown(line.unit_price), "price_base_quantity": line.price_base_quantity}
        new = {
            "unit_price": shown(one.values["unit_price"]),
            "price_base_quantity": one.values["price_base_quantity"],
        }
        if old != new:
            message = f"The price is {new['unit_price']} now."
            told: dict[str, Any] = {"old": old, "new": new}
            errors.append(FieldError(f"lines.{number}", PriceChanged.code, message, told))
    if errors and not accepts:
        raise PriceChanged(errors=errors)


def check_quantities(now: Sequence[OrderedLine]) -> None:
    """Require quantities that can be ordered.

    :raises OrderQuantityInvalid: names each line with what to ask for instead.
    """
    errors = []
    for number, one in enumerate(now):
        correction = one.priced.measured.correction if one.priced else None
        if correction is not None:
            message = f"Ask for {correction}." if correction else "No quantity of this offer can be ordered."
            told = {"corrections": {"quantity": correction}} if correction else {}
            errors.append(FieldError(f"lines.{number}.quantity", OrderQuantityInvalid.code, message, told))
    if errors:
        raise OrderQuantityInvalid(errors=errors)
