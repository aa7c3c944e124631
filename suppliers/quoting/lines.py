"""The lines of a quote with their prices, one after another. Source: contract, supply-price.md 2 and 3."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple
from uuid import UUID

from core.errors import FieldError
from suppliers.agreements.refusals import AgreementExhausted
from suppliers.inventory.states import Unit
from suppliers.marketplace.quantities import Orderable, corrected
from suppliers.marketplace.refusals import OfferNotAvailable, OrderQuantityInvalid
from suppliers.pricing.amounts import for_packs, line_total, sum_of
from suppliers.pricing.candidates import Line, Source
from suppliers.pricing.resolution import Price, Resolution, list_price_of, resolve_price

from .candidates import Good
from .refusals import PriceNotAvailable
from .used_up import UsedUp
from .validity import valid_until

NOT_ON_FORMULARY = "not_on_formulary"
ALLOCATION_EXCEEDED = "allocation_exceeded"
REFUSALS = (OfferNotAvailable.code, OrderQuantityInvalid.code, NOT_ON_FORMULARY, ALLOCATION_EXCEEDED)


class Asking(NamedTuple):
    """What a quote asks for all lines; `apply_corrections`: lines are priced at the quantity that can be ordered.

    `for_buyer`: of a product that the buyer sees no offer of, only his agreements are known.
    """

    currency: str
    agreement_id: str | None
    apply_corrections: bool
    for_buyer: bool


class Measured(NamedTuple):
    """A quantity in base units, and the quantity in the line's unit to ask for instead; None where it can be ordered."""

    base_quantity: int
    correction: int | None


class PricedLine(NamedTuple):
    """A line with its price; `list_price` is for as many packs, `discount` what the line costs less than by it."""

    good: Good
    measured: Measured
    price: Price
    total: Decimal
    list_price: Decimal | None
    discount: Decimal | None
    valid_until: datetime | None
    refusal: str | None


def price_lines(
    goods: Sequence[Good | None],
    items: Sequence[Mapping[str, Any]],
    asking: Asking,
    taken: Mapping[UUID, int] | None = None,
) -> list[PricedLine]:
    """Price the lines of a quote in their order; a line whose product the buyer does not know has no good.

    `taken` are base units that the buyer has taken already, by offers that are short.

    :raises PriceNotAvailable: names each line without a price.
    :raises AgreementExhausted: the named agreement has too little left for a line.
    """
    used, priced, failures = UsedUp(), list[PricedLine](), list[tuple[int, Good | None, Resolution]]()
    allocated = defaultdict[UUID, int](int, taken or {})
    for number, (good, item) in enumerate(zip(goods, items, strict=True)):
        if good is None:
            failures.append((number, None, Resolution(None, [])))
            continue
        measured = _measured(good, item, asking)
        line = _line(good, measured, asking)
        resolution = _resolved(good, line, used, asking)
        if resolution.price is None:
            failures.append((number, good, resolution))
            continue
        used.take(resolution.price, measured.base_quantity)
        refusal = _refusal(good, measured, allocated)
        is_seen = _is_seen(good, asking)
        priced.append(_priced(good, measured, line, resolution.price, refusal, is_seen=is_seen))
    if failures:
        _refuse(failures, asking)
    return priced


def _measured(good: Good, item: Mapping[str, Any], asking: Asking) -> Measured:
    """Measure a quantity; minimum, most and step are those of the offer, where there is one."""
    row, units = good.row, good.row.units_per_pack or 1
    is_packs = item["unit"] == Unit.PACK
    base_quantity: int = item["quantity"] * (units if is_packs else 1)
    if not row.suits or row.least is None or row.step is None:
        return Measured(base_quantity, None)
    packs = corrected(base_quantity, units, Orderable(row.least, row.most, row.step))
    if packs is None:
        return Measured(base_quantity, None)
    if packs and asking.apply_corrections:
        base_quantity = packs * units
    return Measured(base_quantity, packs if is_packs else packs * units)


def _line(good: Good, measured: Measured, asking: Asking) -> Line:
    units = good.row.units_per_pack or 1
    packs, rest = divmod(measured.base_quantity, units)
    quantity = Fraction(measured.base_quantity, units) if rest else packs
    return Line(quantity, asking.currency, good.row.today, units, asking.agreement_id)


def _is_seen(good: Good, asking: Asking) -> bool:
    return good.row.offer is not None or not asking.for_buyer


def _resolved(good: Good, line: Line, used: UsedUp, asking: Asking) -> Resolution:
    candidates = used.of_candidates(good.candidates)
    if not _is_seen(good, asking):
        return resolve_price([one for one in candidates if one.source is Source.CONTRACT], line)
    return resolve_price(candidates, line, used.of_adjustments(good.adjustments))


def _refusal(good: Good, measured: Measured, allocated: dict[UUID, int]) -> str | None:
    """Return the code with which the line could not be submitted, its price aside; `allocated` are base units by offer."""
    row = good.row
    if not row.suits or row.offer_id is None:
        return OfferNotAvailable.code
    if measured.correction == 0:
        return OrderQuantityInvalid.code
    if row.on_formulary is False:
        return NOT_ON_FORMULARY
    allocated[row.offer_id] += measured.base_quantity
    if row.limit_quantity is not None and allocated[row.offer_id] > row.limit_quantity * (row.units_per_pack or 1):
        return ALLOCATION_EXCEEDED
    return None


def _priced(
    good: Good, measured: Measured, line: Line, price: Price, refusal: str | None, *, is_seen: bool
) -> PricedLine:
    total = line_total(price.unit_price, line.quantity, price.price_base_quantity, line.currency)
    found = list_price_of(good.candidates, line) if is_seen else None
    list_price = discount = None
    if found is not None:
        amount, base_quantity = found
        list_price = for_packs(amount, base_quantity, price.price_base_quantity)
        discount = sum_of([line_total(amount, line.quantity, base_quantity, line.currency), -total])
    return PricedLine(good, measured, price, total, list_price, discount, valid_until(good, price), refusal)


def _refuse(failures: Sequence[tuple[int, Good | None, Resolution]], asking: Asking) -> None:
    """Refuse the quote because of all lines without a price.

    :raises PriceNotAvailable, AgreementExhausted: as `price_lines`.
    """
    errors = [
        _failure(number, resolution, good is not None and _is_seen(good, asking))
        for number, good, resolution in failures
    ]
    if any(resolution.exhausted for _, _, resolution in failures):
        raise AgreementExhausted(errors=errors)
    raise PriceNotAvailable(errors=errors)


def _failure(number: int, resolution: Resolution, is_seen: bool) -> FieldError:
    code, message = PriceNotAvailable.code, "There is no price in this currency."
    if resolution.exhausted:
        code, message = AgreementExhausted.code, "The agreement has less left for this line."
    elif not is_seen and not resolution.trace:
        code, message = OfferNotAvailable.code, "You are offered no such product and packaging."
    return FieldError(f"items.{number}", code, message, {"trace": resolution.trace})
