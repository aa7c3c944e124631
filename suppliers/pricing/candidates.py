"""What prices are resolved from, as data: the line asked for, prices that may hold, and what may adjust them.

Whoever knows a source (offers, lists, agreements) reads it in its own statement. Source: contract, supply-price.md 2.
"""

from collections.abc import Sequence
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple


class Source(IntEnum):
    """Where a price comes from; the smaller goes first."""

    CONTRACT = 1
    OFFER = 2
    PRICE_LIST = 3
    LIST_PRICE = 4

    text: str  # the name that clients read

    def __init__(self, _: int) -> None:
        self.text = self.name.lower()


class Line(NamedTuple):
    """What is asked for: `quantity` packs of `base_units` each, priced on a day of the supplier (`YYYY-MM-DD`).

    A quantity in base units may break a pack. `agreement_id` names the agreement that goes before all others.
    """

    quantity: int | Fraction
    currency: str
    on_date: str
    base_units: int = 1
    agreement_id: str | None = None


class Tier(NamedTuple):
    """The price from a number of packs up: a unit price, or so many percent off the product's list price."""

    min_quantity: int
    unit_price: Decimal | None
    discount_percent: Decimal | None = None


class Candidate(NamedTuple):
    """A price that may hold; `tiers` rise, dates are `YYYY-MM-DD` or empty, and the validity is half-open.

    `rank` is the precedence within the source, the smaller first: of a contract (distance of the audience, distance of the
    subject, minus priority), of a list (place of the scope, minus priority). `refusal` is what the reader found to speak
    against it (`not_assigned`, `not_visible`). `left` are the base units that the cap of a contract's line leaves.
    """

    source: Source
    id: str
    version: int
    currency: str
    price_base_quantity: int
    tiers: Sequence[Tier]
    valid_from: str = ""
    valid_to: str = ""
    rank: tuple[int, ...] = ()
    refusal: str | None = None
    left: int | None = None
    line_no: int | None = None
    name: str | None = None


class Adjustment(NamedTuple):
    """What pricing rules and promotions have in common, of those whose product, category and country are met.

    `action` is `percent`, `amount_off`, `fixed_price` or `markup`; `floor` is a unit price. `currencies` empty: all.
    `refusal` is what the reader found to speak against it (`not_assigned`). Dates as those of a candidate.
    """

    id: str
    code: str
    version: int
    name: str
    priority: int
    action: str
    value: Decimal
    floor: Decimal | None = None
    currencies: Sequence[str] = ()
    min_quantity: int | None = None
    min_amount: Decimal | None = None
    applies_to_offers: bool = False
    refusal: str | None = None


class Rule(NamedTuple):
    """A pricing rule; `exclusive`: no rule after it applies."""

    terms: Adjustment
    valid_from: str = ""
    valid_to: str = ""
    exclusive: bool = False


class Promotion(NamedTuple):
    """A promotion with what is left of its limits; None: there is no limit.

    `state` is `scheduled`, `running`, `ended` or `exhausted` at the moment that is asked for. `budget_left` is an amount in
    `budget_currency`; `redemptions_left` the lesser of what is left for all and for the buyer.
    """

    terms: Adjustment
    state: str = "running"
    combinable: bool = False
    applies_to_contracts: bool = False
    budget_left: Decimal | None = None
    budget_currency: str | None = None
    redemptions_left: int | None = None
