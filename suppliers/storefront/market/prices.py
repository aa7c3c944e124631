"""The packaging and the price of a product of the catalog, from what the statement of the page has read."""

from typing import Any, Final, NamedTuple

import orjson

from suppliers.pricing.candidates import Candidate, Line, Source
from suppliers.pricing.resolution import currencies_of, resolve_price
from suppliers.quoting.reading import Shared, candidates_of, shared_of, tiers_of


class Terms(NamedTuple):
    """What the products of one supplier of a page have in common, as JSON."""

    agreements: bytes
    lists: bytes
    rules: bytes
    promotions: bytes


class Seller:
    """A supplier of a page; its terms are parsed once, and only where a product of it was not priced lately."""

    __slots__ = ("_shared", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._shared: Shared | None = None

    def shared(self) -> Shared:
        """Return the terms, parsed."""
        if self._shared is None:
            self._shared = shared_of(*self.terms)
        return self._shared


class Sources(NamedTuple):
    """All that a product's packaging and price follow from, as it was read under the rules of the buyer's role.

    `offer` is the one by which the product is told, where it has a price of its own. The day and the state of each promotion
    are among it, so that nothing else makes another price: no clock, and no setting.
    """

    product_id: str
    packaging_id: str
    packagings: bytes
    offer: bytes
    today: str
    preferred: str
    codes: bytes
    contracts: bytes
    entries: bytes
    prices: bytes
    terms: Terms


_KEPT_AT_MOST: Final = 1_024
_KEPT_BYTES: Final = 16_384  # of a product; usually some four thousand
# The members of the products that were shown lately. The key is all that they follow from: who reads the same is shown the
# same, nothing is kept that a reader could not read himself, and a change of anything is another key.
_kept: dict[Sources, bytes] = {}


def members_of(sources: Sources, seller: Seller) -> bytes:
    """Return the members `packaging` and `price` of a product, as a JSON object."""
    found = _kept.get(sources)
    if found is None:
        found = _members(sources, seller.shared())
        if _size(sources) <= _KEPT_BYTES:
            if len(_kept) >= _KEPT_AT_MOST:
                _kept.clear()
            _kept[sources] = found
    return found


def _size(sources: Sources) -> int:
    own = (sources.packagings, sources.offer, sources.codes, sources.contracts, sources.entries, sources.prices)
    return sum(map(len, own)) + sum(map(len, sources.terms))


def _members(sources: Sources, shared: Shared) -> bytes:
    packagings = orjson.loads(sources.packagings)
    packaging = next((one for one in packagings if one["id"] == sources.packaging_id), None)
    price = _price(sources, packaging["units_per_pack"] if packaging else 1, shared)
    return orjson.dumps({"packaging": packaging, "price": price})


def _price(sources: Sources, units: int, shared: Shared) -> dict[str, Any] | None:
    """Resolve the price of one pack in the buyer's currency, else in the first that there is a price in."""
    of_product = orjson.loads(sources.contracts), orjson.loads(sources.entries), orjson.loads(sources.prices)
    candidates = candidates_of(*of_product, shared)
    offer = orjson.loads(sources.offer)
    if offer is not None:
        key, version, currency, base_quantity, tiers = offer
        candidates.append(Candidate(Source.OFFER, key, version, currency, base_quantity, tiers_of(tiers)))
    adjustments = shared.terms.of(sources.product_id, orjson.loads(sources.codes))
    for currency in currencies_of(candidates, sources.preferred):
        price = resolve_price(candidates, Line(1, currency, sources.today, units), adjustments).price
        if price is not None:
            return price.as_json()
    return None
