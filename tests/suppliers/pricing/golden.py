"""The golden table: rows of Markdown, written by hand from the contract, read into worlds and what must hold in them.

A row has the rule that it shows, what is asked, what there is, and what must hold.

Asked: `12 EUR`, and `on 2026-03-01`, `units 10` (base units in a pack) where they matter.
Given, between semicolons: a kind, a name, words, and prices. A price is `4.10`, or `10:4.10` from ten packs up; `5%` is off
the list price. Words are flags (`hidden`) or `name=value` (`priority=5`, `from=2026-03-01`). Names order the ids.
Holds: `A 4.10 = 49.20` is the source, the unit price and the line's total; `nothing` where no price is found. Behind it
`by R S` are the rules and promotions that changed the price, in their order.
Passed over: a name and its reason, between commas; sources that are not named there are not looked at.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from .worlds import TODAY, Conditions, Contract, ListPrice, Offer, PriceList, Promotion, Rule, Source, Tier, World

FOLDER: Final = Path(__file__).with_name("golden")
_SOURCES: Final[Mapping[str, tuple[str, type[Source]]]] = {
    "contract": ("contracts", Contract),
    "offer": ("offers", Offer),
    "list": ("lists", PriceList),
    "price": ("prices", ListPrice),
}
_ACTIONS: Final = ("percent", "amount_off", "fixed_price", "markup")


@dataclass(frozen=True)
class Row:
    """A row of the table; `source` is None where nothing is found."""

    place: str
    rule: str
    world: World
    source: str | None
    unit_price: Decimal | None
    total: str | None
    adjusted_by: tuple[str, ...]
    passed_over: Mapping[str, str]


def rows() -> Iterator[Row]:
    """Yield the rows of the tables of prices; that of tax is another one."""
    for path in sorted(FOLDER.glob("[123]-*.md")):
        for number, cells in cells_of(path):
            yield _row(f"{path.stem}:{number}", *cells)


def cells_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each row of a Markdown table, without its head."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        cells = [one.strip() for one in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[0] != "Rule" and not set(line) <= set("|- "):
            yield number, cells


def _row(place: str, rule: str, asked: str, given: str, holds: str, passed: str) -> Row:
    source, unit_price, total, adjusted = _held(holds)
    reasons = dict(one.split(maxsplit=1) for one in map(str.strip, passed.split(",")) if one)
    return Row(place, rule, _world(asked, given), source, unit_price, total, adjusted, reasons)


def _held(text: str) -> tuple[str | None, Decimal | None, str | None, tuple[str, ...]]:
    if text == "nothing":
        return None, None, None, ()
    head, _, adjusted = text.partition(" by ")
    source, price, _, total = head.split()
    return source, Decimal(price), total, tuple(adjusted.split())


def _world(asked: str, given: str) -> World:
    quantity, currency, *more = asked.split()
    extra = dict(zip(more[::2], more[1::2], strict=True))
    found: dict[str, list[Any]] = {}
    for one in filter(None, map(str.strip, given.split(";"))):
        kind, name, *words = one.split()
        if kind in _SOURCES:
            member, made = _SOURCES[kind]
            found.setdefault(member, []).append(_source(made, name, words, currency))
        elif kind == "rule":
            found.setdefault("rules", []).append(_adjusting(Rule, name, words, _RULE))
        else:
            assert kind == "promotion", one
            found.setdefault("promotions", []).append(_adjusting(Promotion, name, words, _PROMOTION))
    return World(
        quantity=int(quantity),
        currency=currency,
        units=int(extra.pop("units", 1)),
        on=date.fromisoformat(extra.pop("on", str(TODAY))),
        **{member: tuple(values) for member, values in found.items()},
        **extra,  # empty: a word that nobody knows is an error
    )


def _day(text: str) -> date | None:
    return None if text == "open" else date.fromisoformat(text)


_SOURCE: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "currency": ("currency", str),
    "per": ("per", int),
    "from": ("valid_from", _day),
    "to": ("valid_to", _day),
    "priority": ("priority", int),
    "for": ("audience", str),
    "category": ("category", str),
    "any-packaging": ("any_packaging", bool),
    "cap": ("cap", int),
    "used": ("used", int),
    "hidden": ("visible", lambda _: False),
    "unnamed": ("named", lambda _: False),
    "scope": ("scope", str),
    "foreign": ("mine", lambda _: False),
}
_CONDITIONS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "this-product": ("product", bool),
    "other-product": ("product", lambda _: False),
    "category": ("category", str),
    "this-buyer": ("buyer", bool),
    "other-buyer": ("buyer", lambda _: False),
    "country": ("country", str),
    "min": ("least_quantity", int),
    "min-amount": ("least_amount", Decimal),
    "currency": ("currency", str),
}
_RULE: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "priority": ("priority", int),
    "exclusive": ("exclusive", bool),
    "floor": ("floor", Decimal),
    "offers-too": ("on_offers", bool),
    "from": ("valid_from", _day),
    "to": ("valid_to", _day),
}
_PROMOTION: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "priority": ("priority", int),
    "floor": ("floor", Decimal),
    "not-offers": ("on_offers", lambda _: False),
    "contracts-too": ("on_contracts", bool),
    "combinable": ("combinable", bool),
    "not-running": ("running", lambda _: False),
    "budget": ("budget", Decimal),
    "spent": ("spent", Decimal),
    "budget-currency": ("budget_currency", str),
    "most": ("most", int),
    "redeemed": ("redeemed", int),
    "most-per-buyer": ("most_per_buyer", int),
    "by-buyer": ("redeemed_by_buyer", int),
}


def _source(made: type[Source], name: str, words: list[str], currency: str) -> Source:
    given: dict[str, Any] = {"currency": currency}
    tiers = []
    for word in words:
        key, _, value = word.partition("=")
        if key in _SOURCE:
            member, read = _SOURCE[key]
            given[member] = read(value or "yes")
        else:
            tiers.append(_tier(word))
    return made(name=name, tiers=tuple(tiers), **given)


def _tier(word: str) -> Tier:
    least, _, amount = word.rpartition(":")
    if amount.endswith("%"):
        return Tier(int(least or 1), percent=Decimal(amount[:-1]))
    return Tier(int(least or 1), price=Decimal(amount))


def _adjusting(made: Any, name: str, words: list[str], known: Mapping[str, tuple[str, Callable[[str], Any]]]) -> Any:
    action, amount, *more = words
    assert action in _ACTIONS, action
    given: dict[str, Any] = {}
    conditions: dict[str, Any] = {}
    for word in more:
        key, _, value = word.partition("=")
        member, read = (known | _CONDITIONS)[key]
        (given if key in known else conditions)[member] = read(value or "yes")
    return made(name=name, action=action, value=Decimal(amount), conditions=Conditions(**conditions), **given)
