"""The course of a promotion: its state at a moment, in SQL and in code, and what is told of it.

Whoever changes a promotion brings `told` to its state, and tells the difference. Source: contract, supply-price.md 1 "Promotion".
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from ledger.public import Occurrence
from suppliers.terms.states import TermStatus

from .events import PromotionEnded, PromotionStarted
from .models import Promotion
from .states import PromotionState, Told

_TOLD: Final = {PromotionState.RUNNING: Told.RUNNING, PromotionState.SCHEDULED: Told.WAITING}


def state_sql(row: str, at: str, *, exhausted: str = "") -> str:
    """Write the state of a promotion at a moment; `row` is its alias. `exhausted` is SQL in place of the column."""
    return (
        f"CASE WHEN {row}.status <> 'active' THEN {row}.status WHEN {row}.ends_at <= {at} THEN 'ended'"
        f" WHEN {exhausted or f'{row}.exhausted'} THEN 'exhausted' WHEN {row}.starts_at > {at} THEN 'scheduled'"
        " ELSE 'running' END"
    )


def told_sql(row: str, at: str, *, exhausted: str = "") -> str:
    """Write what is to be told of a promotion at a moment; the arguments are those of `state_sql`."""
    return (
        f"CASE WHEN {row}.status <> 'active' OR {row}.ends_at <= {at} OR {exhausted or f'{row}.exhausted'} THEN 'over'"
        f" WHEN {row}.starts_at > {at} THEN 'waiting' ELSE 'running' END"
    )


def turn_sql(at: str) -> str:
    """Write what an UPDATE of promotions `p` returns as a `Turn`."""
    return (
        "p.id AS promotion_id, p.code, p.version, old.told AS told_before,"
        f" old.status = 'active' AND NOT old.exhausted AND old.starts_at <= {at} AS had_begun, new.told,"
        f" {state_sql('new', at)} AS state"
    )


def state_of(promotion: Promotion, at: datetime) -> PromotionState:
    """Return the state of a promotion at a moment."""
    if promotion.status != TermStatus.ACTIVE:
        return PromotionState(promotion.status)
    if promotion.ends_at <= at:
        return PromotionState.ENDED
    if is_exhausted(promotion):
        return PromotionState.EXHAUSTED
    return PromotionState.SCHEDULED if promotion.starts_at > at else PromotionState.RUNNING


def is_exhausted(promotion: Promotion) -> bool:
    """Tell whether nothing is left of a limit."""
    most, budget = promotion.max_redemptions, promotion.budget_amount
    return (most is not None and promotion.redemptions >= most) or (budget is not None and promotion.spent >= budget)


def told_of(state: PromotionState) -> Told:
    """Return what is to be told of a promotion in a state."""
    return _TOLD.get(state, Told.OVER)


class Turn(NamedTuple):
    """What a change made of a promotion's course; `had_begun` says that it could be redeemed before, told or not."""

    promotion_id: UUID
    code: str
    version: int
    told_before: str
    had_begun: bool
    told: str
    state: str


def before_change(promotion: Promotion, at: datetime) -> tuple[str, bool]:
    """Return `told_before` and `had_begun` of a locked promotion that is about to be changed."""
    begun = promotion.status == TermStatus.ACTIVE and not is_exhausted(promotion) and promotion.starts_at <= at
    return promotion.told, begun


def turn_of(promotion: Promotion, before: tuple[str, bool], at: datetime) -> Turn:
    """Return the turn of a promotion that was changed."""
    return Turn(promotion.id, promotion.code, promotion.version, *before, promotion.told, state_of(promotion, at).value)


def news(turns: Iterable[Turn]) -> list[Occurrence]:
    """Return what is to be told of promotions: that they run, that they run no more, or, where the first was missed, both."""
    found = []
    for turn in turns:
        missed = turn.told_before == Told.WAITING and turn.had_begun
        runs, ran = turn.told == Told.RUNNING, turn.told_before == Told.RUNNING
        if (runs and not ran) or missed:
            event = PromotionStarted(code=turn.code, state=PromotionState.RUNNING.value)
            found.append(Occurrence(event, turn.promotion_id, turn.version))
        if (ran or missed) and not runs:
            ended = PromotionEnded(code=turn.code, state=turn.state)
            found.append(Occurrence(ended, turn.promotion_id, turn.version))
    return found
