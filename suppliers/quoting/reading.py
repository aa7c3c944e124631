"""Rows of `sources` as the candidates, rules and promotions that prices are resolved from."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from suppliers.pricing.candidates import Adjustment, Candidate, Promotion, Rule, Source, Tier

Row = Sequence[Any]


class Terms(NamedTuple):
    """Rules and promotions of one supplier, each with the products and categories that it is for; empty: for all.

    `windows` are the instants at which each promotion begins and ends, by its id.
    """

    rules: Sequence[tuple[Row | None, Row | None, Rule]]
    promotions: Sequence[tuple[Row | None, Row | None, Promotion]]
    windows: Mapping[str, tuple[datetime, datetime]]

    def of(self, product_id: str, codes: Row) -> tuple[list[Rule], list[Promotion]]:
        """Return those of one product; `codes` are its category and those above it."""
        within = frozenset(codes)
        return (
            [one for ids, named, one in self.rules if _is_for(ids, named, product_id, within)],
            [one for ids, named, one in self.promotions if _is_for(ids, named, product_id, within)],
        )


def _is_for(ids: Row | None, named: Row | None, product_id: str, within: frozenset[str]) -> bool:
    return (not ids or product_id in ids) and (not named or not within.isdisjoint(named))


def candidates_of(contracts: Sequence[Row], lists: Sequence[Row], prices: Sequence[Row]) -> list[Candidate]:
    """Return the candidates of one packaging, without its offer."""
    return [*_contracts(contracts), *_lists(lists), *_list_prices(prices)]


def terms_of(rules: bytes, promotions: bytes) -> Terms:
    """Return the rules and promotions of one supplier, given as JSON.

    Suppliers change them seldom, and all their buyers read the same: the last ones are kept by their text.
    """
    return _kept_terms(rules, promotions) if len(rules) + len(promotions) <= _KEPT_BYTES else _terms(rules, promotions)


def _terms(rules: bytes, promotions: bytes) -> Terms:
    offered = orjson.loads(promotions)
    windows = {row[0]: (datetime.fromisoformat(row[-2]), datetime.fromisoformat(row[-1])) for row in offered}
    return Terms([_rule(row) for row in orjson.loads(rules)], [_promotion(row) for row in offered], windows)


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


def _contracts(rows: Sequence[Row]) -> Iterator[Candidate]:
    for (
        key, version, number, currency, priority, begin, end, distance, subject, line_no, base_quantity, tiers, left,
    ) in rows:  # fmt: skip
        yield Candidate(
            Source.CONTRACT, key, version, currency, base_quantity, tiers_of(tiers), begin or "", end or "",
            (distance, subject, -priority), left=left, line_no=line_no, name=number,
        )  # fmt: skip


def _lists(rows: Sequence[Row]) -> Iterator[Candidate]:
    for key, version, name, currency, priority, begin, end, place, base_quantity, tiers, is_assigned in rows:
        yield Candidate(
            Source.PRICE_LIST, key, version, currency, base_quantity, tiers_of(tiers), begin or "", end or "",
            (place, -priority), None if is_assigned else "not_assigned", name=name,
        )  # fmt: skip


def _list_prices(rows: Sequence[Row]) -> Iterator[Candidate]:
    for key, version, currency, begin, end, base_quantity, tiers in rows:
        given = [Tier(least, Decimal(price)) for least, price in tiers]
        yield Candidate(Source.LIST_PRICE, key, version, currency, base_quantity, given, begin, end or "")


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
