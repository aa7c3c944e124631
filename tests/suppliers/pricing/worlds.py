"""What one supplier has that may price one line, as plain facts.

A world knows nothing of the code that it tests: `golden.py` reads it from the table, `oracle.py` prices it by the text of the
contract, `adapter.py` turns it into what the function takes, and `rows.py` writes it into tables.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

TODAY = date(2026, 6, 15)
# The path of the product's category, from the root.
CATEGORIES = ("goods", "gloves", "nitrile")
COUNTRY = "DE"
# How far the buyer is from whom a contract is for; None: it is for somebody else.
DISTANCES = {"buyer": 0, "organization": 1, "parent": 2, "grandparent": 3, "others": None}
SCOPES = ("tenants", "organizations", "groups", "public")


@dataclass(frozen=True)
class Tier:
    """A unit price from so many packs up, or a percentage off the list price."""

    least: int
    price: Decimal | None = None
    percent: Decimal | None = None


@dataclass(frozen=True)
class Source:
    """What may give a price; `name` orders the ids of a world."""

    name: str
    tiers: tuple[Tier, ...] = ()
    currency: str = "EUR"
    per: int = 1
    valid_from: date | None = date(2026, 1, 1)
    valid_to: date | None = date(2027, 1, 1)
    priority: int = 0

    @property
    def id(self) -> UUID:
        """An id whose order is that of the names."""
        return id_of(self.name)


@dataclass(frozen=True)
class Contract(Source):
    """A line of an active agreement; `cap` and `used` are base units."""

    audience: str = "buyer"
    category: str | None = None
    any_packaging: bool = False
    cap: int | None = None
    used: int = 0


@dataclass(frozen=True)
class Offer(Source):
    """An offer; `named` where the request names it."""

    visible: bool = True
    named: bool = True


@dataclass(frozen=True)
class PriceList(Source):
    """An active price list with an entry of the packaging; `mine`: the buyer belongs to whom it is assigned to."""

    scope: str = "public"
    mine: bool = True


@dataclass(frozen=True)
class ListPrice(Source):
    """A list price of the product's packaging."""


@dataclass(frozen=True)
class Conditions:
    """When a rule or promotion applies; what is empty asks nothing."""

    product: bool | None = None
    category: str | None = None
    buyer: bool | None = None
    country: str | None = None
    least_quantity: int | None = None
    least_amount: Decimal | None = None
    currency: str | None = None


@dataclass(frozen=True)
class Rule:
    """An active rule; `action` is percent, amount_off, fixed_price or markup."""

    name: str
    action: str
    value: Decimal
    priority: int = 0
    exclusive: bool = False
    floor: Decimal | None = None
    on_offers: bool = False
    valid_from: date | None = None
    valid_to: date | None = None
    conditions: Conditions = Conditions()

    @property
    def id(self) -> UUID:
        """An id whose order is that of the names; the name is the code, too."""
        return id_of(self.name)


@dataclass(frozen=True)
class Promotion:
    """An active promotion; `redeemed_by_buyer` counts this buyer's redemptions."""

    name: str
    action: str
    value: Decimal
    priority: int = 0
    floor: Decimal | None = None
    on_offers: bool = True
    on_contracts: bool = False
    combinable: bool = False
    running: bool = True
    budget: Decimal | None = None
    spent: Decimal = Decimal(0)
    budget_currency: str | None = None
    most: int | None = None
    redeemed: int = 0
    most_per_buyer: int | None = None
    redeemed_by_buyer: int = 0
    conditions: Conditions = Conditions()

    @property
    def id(self) -> UUID:
        """An id whose order is that of the names; the name is the code, too."""
        return id_of(self.name)


@dataclass(frozen=True)
class World:
    """A line that is asked for, and all that may price it."""

    quantity: int = 1
    currency: str = "EUR"
    units: int = 1
    on: date = TODAY
    contracts: tuple[Contract, ...] = ()
    offers: tuple[Offer, ...] = ()
    lists: tuple[PriceList, ...] = ()
    prices: tuple[ListPrice, ...] = ()
    rules: tuple[Rule, ...] = ()
    promotions: tuple[Promotion, ...] = ()

    @property
    def sources(self) -> tuple[Source, ...]:
        """All that may give a price."""
        return (*self.contracts, *self.offers, *self.lists, *self.prices)

    @property
    def names(self) -> dict[str, str]:
        """The names by id."""
        return {str(one.id): one.name for one in (*self.sources, *self.rules, *self.promotions)}


def id_of(name: str) -> UUID:
    """Return an id; ids have the order of their names."""
    return UUID(bytes=name.encode("ascii").ljust(16, b"\0")[:16])
