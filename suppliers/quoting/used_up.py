"""What the earlier lines of a quote use up of caps and budgets, so that the later ones are not promised it again."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from suppliers.pricing.adjustments import Adjustments
from suppliers.pricing.candidates import Candidate, Promotion
from suppliers.pricing.resolution import Price

Key = tuple[str, int | None]  # of an agreement and its line


@dataclass(slots=True)
class UsedUp:
    """Base units by line of an agreement, and amounts by promotion; a promotion is redeemed once for all lines of a supplier."""

    units: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    amounts: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))

    def of_candidates(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return candidates with what is left of their caps."""
        return [self._left(one) for one in candidates] if self.units else candidates

    def of_adjustments(self, given: Adjustments) -> Adjustments:
        """Return promotions with what is left of their budgets, beside the rules."""
        if not any(one.budget_left is not None and one.terms.id in self.amounts for one in given.promotions):
            return given
        return Adjustments(given.rules, [self._less(one) for one in given.promotions])

    def take(self, price: Price, base_quantity: int) -> None:
        """Count a line with its price."""
        if price.candidate.left is not None:
            self.units[price.source_id, price.candidate.line_no] += base_quantity
        for key, discount in price.redeemed:
            self.amounts[key] += discount

    def _less(self, promotion: Promotion) -> Promotion:
        taken = self.amounts.get(promotion.terms.id)
        if promotion.budget_left is None or taken is None:
            return promotion
        return promotion._replace(budget_left=promotion.budget_left - taken)

    def _left(self, candidate: Candidate) -> Candidate:
        taken = self.units.get((candidate.id, candidate.line_no), 0)
        if candidate.left is None or not taken:
            return candidate
        return candidate._replace(left=candidate.left - taken)
