"""Rows of `sources` as the candidates, rules and promotions that prices are resolved from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from suppliers.pricing.adjustments import Adjustments
from suppliers.pricing.candidates import Adjustment, Candidate, Promotion, Rule, Source, Tier

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Terms:
    """Rules and promotions of one supplier, each with the products and categories that it is for; empty: for all.

    `windows` are the instants at which each promotion begins and ends, by its id, where they were read. `kept` are those of a
    product's categories, or of the product where one of them `names_products`.
    """

    rules: Sequence[tuple[Row | None, Row | None, Rule]]
    promotions: Sequence[tuple[Row | None, Row | None, Promotion]]
    windows: Mapping[str, tuple[datetime, datetime]]
    names_products: bool
    kept: dict[tuple[str, ...], Adjustments] = field(default_factory=dict)

    def of(self, product_id: UUID | str, codes: Row) -> Adjustments:
        """Return those of one product; `codes` are its category and those above it."""
        key = (str(product_id), *codes) if self.names_products else (*codes,)
        found = self.kept.get(key)
        if found is None:
            named, within = str(product_id), frozenset(codes)
            found = self.kept[key] = Adjustments(
                [one for ids, categories, one in self.rules if _is_for(ids, categories, named, within)],
                [one for ids, categories, one in self.promotions if _is_for(ids, categories, named, within)],
            )
        return found


class Shared(NamedTuple):
    """What the goods of one supplier have in common: agreements and lists that are for the buyer, by their ids, and terms."""

    agreements: Mapping[str, Row]
    lists: Mapping[str, Row]
    terms: Terms
    agreement_ids: Sequence[str]


def _is_for(ids: Row | None, named: Row | None, product_id: str, within: frozenset[str]) -> bool:
    return (not ids or product_id in ids) and (not named or not within.isdisjoint(named))


def shared_of(agreements: bytes, lists: bytes, rules: bytes, promotions: bytes) -> Shared:
    """Return what the first row of a supplier's goods tells of all of them, as JSON."""
    agreed = {key: rest for key, *rest in orjson.loads(agreements)}
    listed = {row[0]: row for row in orjson.loads(lists)}
    return Shared(agreed, listed, terms_of(rules, promotions), [key for key, *_ in agreed.values()])


def candidates_of(
    contracts: Sequence[Row], entries: Sequence[Row], prices: Sequence[Row], shared: Shared
) -> list[Candidate]:
    """Return the candidates of one packaging, without its offer and the lists that are for others."""
    listed = (_entry(*shared.lists[key], *tier) for key, *tier in entries)
    agreed = (_contract(*shared.agreements[key], *line) for key, *line in contracts)
    return [*agreed, *listed, *(_list_price(*one) for one in prices)]


def hidden_of(entries: Sequence[Row]) -> Iterator[Candidate]:
    """Yield the entries of lists that are not for the buyer."""
    return (_entry(*one)._replace(refusal="not_assigned") for one in entries)


def terms_of(rules: bytes, promotions: bytes) -> Terms:
    """Return the rules and promotions of one supplier, given as JSON.

    Suppliers change them seldom, and all their buyers read the same: the last ones are kept by their text.
    """
    return _kept_terms(rules, promotions) if len(rules) + len(promotions) <= _KEPT_BYTES else _terms(rules, promotions)


def _terms(rules: bytes, promotions: bytes) -> Terms:
    offered = orjson.loads(promotions)
    windows = {row[0]: (datetime.fromisoformat(row[-2]), datetime.fromisoformat(row[-1])) for row in offered if row[-1]}
    found = [_rule(row) for row in orjson.loads(rules)], [_promotion(row) for row in offered]
    return Terms(*found, windows, any(ids for kind in found for ids, *_ in kind))


_KEPT_BYTES = 16_384
_kept_terms = lru_cache(maxsize=256)(_terms)


def tiers_of(stored: Sequence[dict[str, Any]]) -> list[Tier]:
    """Return tiers as they are stored in a JSON column."""
    return [
        Tier(
            int(one["min_quantity"]),
            None if one.get("unit_price") is None else Decimal(one["unit_price"]),
            None if one.get("discount_percent") is None else Decimal(one["discount_percent"]),
        )
        for one in stored
    ]


def _contract(  # noqa: PLR0913 - the columns of a row
    key: str, version: int, number: str, currency: str, priority: int, begin: str | None, end: str | None, distance: int,
    subject: int, line_no: int, base_quantity: int, tiers: Sequence[dict[str, Any]], left: int | None,
) -> Candidate:  # fmt: skip
    return Candidate(
        Source.CONTRACT, key, version, currency, base_quantity, tiers_of(tiers), begin or "", end or "",
        (distance, subject, -priority), None, left, line_no, number,
    )  # fmt: skip


def _entry(  # noqa: PLR0913 - the columns of a row
    key: str, version: int, name: str, currency: str, priority: int, begin: str | None, end: str | None, place: int,
    base_quantity: int, tiers: Sequence[dict[str, Any]],
) -> Candidate:  # fmt: skip
    return Candidate(
        Source.PRICE_LIST, key, version, currency, base_quantity, tiers_of(tiers), begin or "", end or "",
        (place, -priority), name=name,
    )  # fmt: skip


def _list_price(
    key: str, version: int, currency: str, begin: str, end: str | None, base_quantity: int, tiers: Sequence[Row]
) -> Candidate:
    given = [Tier(least, Decimal(price)) for least, price in tiers]
    return Candidate(Source.LIST_PRICE, key, version, currency, base_quantity, given, begin, end or "")


_SHARED = 15  # the members that rules and promotions have in common


def _adjustment(row: Row) -> tuple[Row | None, Row | None, Adjustment]:
    (
        key, code, version, name, priority, action, value, floor, currencies, min_quantity, min_amount, applies_to_offers,
        is_assigned, products, categories,
    ) = row[:_SHARED]  # fmt: skip
    terms = Adjustment(
        key, code, version, name, priority, action, Decimal(value), _amount(floor), currencies or (), min_quantity,
        _amount(min_amount), applies_to_offers, None if is_assigned else "not_assigned",
    )  # fmt: skip
    return products, categories, terms


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _rule(row: Row) -> tuple[Row | None, Row | None, Rule]:
    products, categories, terms = _adjustment(row)
    begin, end, is_exclusive = row[_SHARED:]
    return products, categories, Rule(terms, begin or "", end or "", is_exclusive)


def _promotion(row: Row) -> tuple[Row | None, Row | None, Promotion]:
    products, categories, terms = _adjustment(row)
    state, is_combinable, with_contracts, budget_left, currency, redemptions_left, *_ = row[_SHARED:]
    left = _amount(budget_left)
    return (
        products,
        categories,
        Promotion(terms, state, is_combinable, with_contracts, left, currency, redemptions_left),
    )
