"""What an order redeems of promotions and gives back: calls of the pipeline for the transaction of its submit.

    calls = redeem(supplier_id, document_id=order.id, buyer_id=buyer_id, wanted=wanted, at=at)
    answers = run([*calls, ...])
    told = redeemed(wanted, answers[:len(calls)])  # raises PromotionExhausted

The supplier is bound. The order of promotions in the lock order: before offers and orders. A document holds one redemption
of a promotion, with all that it saves; to redeem again changes the amount, and giving back what was given back does
nothing. `told` is recorded with the other facts of the supplier. Source: contract, supply-price.md 1 "Promotion".
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core.arrays import array_literal, in_document
from core.ids import uuid7
from core.pipeline import Call, Rows, Statement
from ledger.public import Occurrence

from .course import Turn, news, state_sql, told_sql, turn_sql
from .models import MOST_COUNTED
from .refusals import PromotionExhausted


class Wanted(NamedTuple):
    """What a document saves by one promotion, in the currency of the document."""

    promotion_id: UUID
    amount: Decimal
    currency: str


class Left(NamedTuple):
    """What is left of a locked promotion; None: there is no limit."""

    promotion_id: UUID
    code: str
    state: str
    currency: str | None
    redemptions: int | None
    budget: Decimal | None


class Granted(NamedTuple):
    """A promotion that was redeemed: its `Turn`, and whether the buyer might redeem it."""

    promotion_id: UUID
    code: str
    version: int
    told_before: str
    had_begun: bool
    told: str
    state: str
    is_within_buyers: bool


_AT: Final = "$5::timestamptz"
# What the amount of a document adds to what is spent: amounts of another currency than the budget's do not count.
_MORE: Final = (
    "(CASE WHEN q.currency = p.budget_currency THEN q.amount ELSE 0 END"
    " - CASE WHEN q.held_currency = p.budget_currency THEN q.held ELSE 0 END)"
)
_EXHAUSTED: Final = (
    "(p.max_redemptions IS NOT NULL AND p.redemptions + q.first >= p.max_redemptions"
    f" OR p.budget_amount IS NOT NULL AND p.spent + {_MORE} >= p.budget_amount)"
)
_LOCK = Statement.of(
    f"SELECT p.id AS promotion_id, p.code, {state_sql('p', '$3::timestamptz')} AS state, p.budget_currency AS currency,"
    " (p.max_redemptions - p.redemptions)::int AS redemptions, p.budget_amount - p.spent AS budget"
    " FROM suppliers_promotion p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) ORDER BY p.id FOR NO KEY UPDATE",
    row=Left,
)
_TAKE = Statement.of(
    f"""
WITH asked AS MATERIALIZED (
  SELECT a.id, a.promotion_id, a.amount, a.currency, r.amount AS held, r.currency AS held_currency, (r.id IS NULL)::int AS first
  FROM json_to_recordset($4::json) AS a (id uuid, promotion_id uuid, amount numeric, currency text)
  LEFT JOIN suppliers_promotionredemption r
    ON r.tenant_id = $1 AND r.document_id = $2 AND r.promotion_id = a.promotion_id AND r.given_back_at IS NULL
), taken AS (
  UPDATE suppliers_promotion p SET redemptions = p.redemptions + q.first, spent = p.spent + {_MORE},
    told = {told_sql("p", _AT, exhausted=_EXHAUSTED)}
  FROM asked q
  WHERE p.tenant_id = $1 AND {in_document("p.id", "$4", "promotion_id")} AND p.id = q.promotion_id
    AND (q.first = 0 AND {_MORE} <= 0
      OR p.status = 'active' AND p.starts_at <= {_AT} AND p.ends_at > {_AT}
        AND (p.budget_currency IS NULL OR p.budget_currency = q.currency)
        AND (p.max_redemptions IS NULL OR p.redemptions + q.first <= p.max_redemptions)
        AND (p.budget_amount IS NULL OR p.spent + {_MORE} <= p.budget_amount))
  RETURNING {turn_sql(_AT)}, q.id, q.amount, q.currency, q.first, new.max_per_buyer
), counted AS (
  INSERT INTO suppliers_promotionbuyer AS b (tenant_id, promotion_id, buyer_tenant_id, redemptions)
  SELECT $1, t.promotion_id, $3, 1 FROM taken t WHERE t.first = 1
  ON CONFLICT (tenant_id, promotion_id, buyer_tenant_id) DO UPDATE SET redemptions = b.redemptions + 1
  WHERE b.redemptions < (SELECT coalesce(t.max_per_buyer, {MOST_COUNTED}) FROM taken t WHERE t.promotion_id = b.promotion_id)
  RETURNING promotion_id
), noted AS (
  INSERT INTO suppliers_promotionredemption AS r
    (id, tenant_id, promotion_id, document_id, buyer_tenant_id, amount, currency, created_at, updated_at, version)
  SELECT t.id, $1, t.promotion_id, $2, $3, t.amount, t.currency, {_AT}, {_AT}, 1 FROM taken t
  ON CONFLICT (tenant_id, document_id, promotion_id) DO UPDATE
  SET amount = excluded.amount, currency = excluded.currency, given_back_at = NULL, updated_at = excluded.updated_at,
    version = r.version + 1
  WHERE r.given_back_at IS NOT NULL OR r.amount <> excluded.amount OR r.currency <> excluded.currency
  RETURNING r.id
)
SELECT t.promotion_id, t.code, t.version, t.told_before, t.had_begun, t.told, t.state,
  t.first = 0 OR c.promotion_id IS NOT NULL AS is_within_buyers
FROM taken t LEFT JOIN counted c ON c.promotion_id = t.promotion_id ORDER BY t.promotion_id
""",
    row=Granted,
)
_LESS: Final = "CASE WHEN g.currency = p.budget_currency THEN g.amount ELSE 0 END"
_LEFT_FULL: Final = (
    "(p.max_redemptions IS NOT NULL AND p.redemptions - 1 >= p.max_redemptions"
    f" OR p.budget_amount IS NOT NULL AND p.spent - {_LESS} >= p.budget_amount)"
)
_RETURN = Statement.of(
    f"""
WITH locked AS MATERIALIZED (
  SELECT k.id FROM suppliers_promotion k WHERE k.tenant_id = $1 AND k.id = ANY(ARRAY(
    SELECT h.promotion_id FROM suppliers_promotionredemption h WHERE h.tenant_id = $1 AND h.document_id = $2
      AND h.given_back_at IS NULL AND ($4::uuid[] IS NULL OR h.promotion_id = ANY($4::uuid[]))))
  ORDER BY k.id FOR NO KEY UPDATE
), given AS (
  UPDATE suppliers_promotionredemption r SET given_back_at = $3::timestamptz, updated_at = $3::timestamptz, version = r.version + 1
  FROM locked l WHERE r.tenant_id = $1 AND r.document_id = $2 AND r.promotion_id = l.id AND r.given_back_at IS NULL
  RETURNING r.promotion_id, r.buyer_tenant_id, r.amount, r.currency
), counted AS (
  UPDATE suppliers_promotionbuyer b SET redemptions = b.redemptions - 1 FROM given g
  WHERE b.tenant_id = $1 AND b.promotion_id = g.promotion_id AND b.buyer_tenant_id = g.buyer_tenant_id
)
UPDATE suppliers_promotion p SET redemptions = p.redemptions - 1, spent = p.spent - {_LESS},
  told = {told_sql("p", "$3::timestamptz", exhausted=_LEFT_FULL)}
FROM given g WHERE p.tenant_id = $1 AND p.id = g.promotion_id
RETURNING {turn_sql("$3::timestamptz")}
""",
    row=Turn,
)


def lock_call(supplier_id: UUID, promotions: Collection[UUID], at: datetime) -> Call:
    """Return the statement that locks promotions in their order, for whoever gives back of some and redeems others."""
    return Call(_LOCK, [str(supplier_id), array_literal(sorted(promotions)), at.isoformat()])


def redeem(
    supplier_id: UUID, *, document_id: UUID, buyer_id: UUID, wanted: Sequence[Wanted], at: datetime
) -> list[Call]:
    """Return the calls that let a document of a buyer hold promotions, each with all that it saves by it.

    A promotion that the document holds already keeps its place and takes the new amount. What `redeemed` refuses, the
    caller's transaction must take back.

    :raises ValueError: a promotion is named twice, or an amount is below nothing; a programming error.
    """
    names = [str(one.promotion_id) for one in wanted]
    if len(set(names)) < len(names) or any(one.amount < 0 for one in wanted):
        raise ValueError("each promotion once, with an amount of 0 or more")
    if not wanted:
        return []
    moment, mine = at.isoformat(), str(supplier_id)
    given: list[dict[str, Any]] = [
        {"id": uuid7(), "promotion_id": one.promotion_id, "amount": f"{one.amount:f}", "currency": one.currency}
        for one in wanted
    ]
    return [
        Call(_LOCK, [mine, array_literal(names), moment]),
        Call(_TAKE, [mine, str(document_id), str(buyer_id), orjson.dumps(given), moment]),
    ]


def redeemed(wanted: Sequence[Wanted], answers: Sequence[Rows]) -> list[Occurrence]:
    """Return what is to be told to the supplier of redeemed promotions, from what the calls of `redeem` answered.

    :raises PromotionExhausted: names each promotion that cannot be redeemed, and why.
    """
    if not wanted:
        return []
    left = {one.promotion_id: one for one in answers[0].of(Left)}
    granted = {one.promotion_id: one for one in answers[1].of(Granted)}
    refused = [
        (one, reason)
        for one in wanted
        if (reason := _reason(one, left.get(one.promotion_id), granted.get(one.promotion_id)))
    ]
    if refused:
        raise PromotionExhausted(
            promotions=[
                {"id": str(one.promotion_id), "code": found.code if found else None, "reason": reason}
                for one, reason in refused
                for found in [left.get(one.promotion_id)]
            ]
        )
    return news(Turn._make(one[: len(Turn._fields)]) for one in granted.values())


def _reason(wanted: Wanted, left: Left | None, granted: Granted | None) -> str:
    """Return why a promotion was not redeemed; the empty text where it was."""
    if granted is not None:
        return "" if granted.is_within_buyers else "max_per_buyer"
    if left is None:
        return "unknown"
    if left.state not in ("running", "exhausted"):
        return "not_running"
    if left.currency not in (None, wanted.currency):
        return "other_currency"
    return "max_redemptions" if left.redemptions is not None and left.redemptions < 1 else "budget"


def give_back(
    supplier_id: UUID, *, document_id: UUID, at: datetime, only: Collection[UUID] | None = None
) -> list[Call]:
    """Return the calls that give back what a document holds of promotions, or of `only` these; what it does not hold stays.

    Let `given_back` read the answers.
    """
    named = None if only is None else array_literal(sorted(only))
    return [Call(_RETURN, [str(supplier_id), str(document_id), at.isoformat(), named])]


def given_back(answers: Sequence[Rows]) -> list[Occurrence]:
    """Return what is to be told to the supplier of promotions that were given back, from what the calls answered."""
    return news(answers[0].of(Turn))
