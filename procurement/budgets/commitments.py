"""What documents commit and spend of budgets: exact to the smallest unit, and the same when a step is told twice.

A step names the amounts that the document has afterwards, not a difference: `commit` its whole gross, `spend` all that is
approved of its invoices, `give_back` what stays. So a step that is repeated changes nothing. The steps are calls of the
pipeline, for transactions bound to the buyer; the budget is locked before them, and before the documents (contract, supply.md 5):

    (found,) = run([budget_call(buyer_id, Choice("wards-2026", "4711"), at, lock=True)])
    hold = Hold(buyer_id, budget_for(found, "EUR").id, order_id, "4711")
    (moved,) = run([commit_call(hold, gross, at)])
    told = moved_of(moved).told

Source: contract, supply-price.md 6.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7_text
from core.money import Money
from core.pipeline import Call, Rows, Statement, run
from ledger import public as ledger
from ledger.public import Occurrence
from organizations.public import today_sql

from .events import BudgetThresholdReached
from .refusals import BudgetExceeded, CurrencyMismatch


class FoundBudget(NamedTuple):
    """A budget as a document that names it needs to know it; `is_usable` today, `is_for` the cost centre that is named."""

    id: UUID
    currency: str
    is_usable: bool
    is_for: bool
    is_hard: bool
    available: Decimal


class _Row(NamedTuple):
    """What a step has done; the amounts are those behind it."""

    outcome: str
    budget_id: UUID
    code: str
    version: int
    currency: str
    available: Decimal
    is_hard: bool
    threshold_percent: int
    has_crossed: bool


_BY_CODE: Final = (
    "SELECT b.id, b.currency, b.active AND b.valid_from <= d.today AND b.valid_to > d.today AS is_usable,"
    " b.cost_centers = '{}' OR $3 = ANY(b.cost_centers) AS is_for, b.enforcement = 'hard' AS is_hard,"
    " b.amount - b.committed - b.spent AS available FROM procurement_budget b,"
    f" (SELECT {today_sql('$1::uuid', '$4::timestamptz')} AS today) d WHERE b.tenant_id = $1 AND b.code = $2"
)
_FIND = Statement.of(_BY_CODE, row=FoundBudget)
_HOLD = Statement.of(f"{_BY_CODE} FOR NO KEY UPDATE OF b", row=FoundBudget)
_LOCK = Statement.of(
    "SELECT b.id::text FROM procurement_budget b WHERE b.tenant_id = $1 AND b.id = ANY($2::uuid[])"
    " ORDER BY b.id FOR NO KEY UPDATE"
)


def _reached(used: str, budget: str) -> str:
    """Write whether what is used has reached the threshold; as `Budget.is_reached`."""
    return f"(({used}) > 0 AND ({used}) * 100 >= {budget}.amount * {budget}.threshold_percent)"


def _step(committed: str, spent: str) -> Statement:
    """Return the statement of a step; its arguments are SQL of what the document has afterwards, over `k`, what it has now.

    It runs behind the lock, so it reads what the last one wrote. The condition holds a hard budget to its amount.
    """
    used = "k.committed + k.spent + d.more_committed + d.more_spent"
    return Statement.of(
        "WITH k AS MATERIALIZED (SELECT b.id, b.code, b.version, b.currency, b.amount, b.committed, b.spent,"
        " b.enforcement = 'hard' AS is_hard, b.threshold_percent,"
        " coalesce(e.committed, 0) AS own_committed, coalesce(e.spent, 0) AS own_spent FROM procurement_budget b"
        " LEFT JOIN procurement_budgetentry e ON e.tenant_id = b.tenant_id AND e.budget_id = b.id AND e.tenant_id = $1"
        " AND e.document_id = $3 WHERE b.tenant_id = $1 AND b.id = $2),"
        f" n AS (SELECT {committed} AS committed, {spent} AS spent FROM k),"
        " d AS (SELECT n.committed - k.own_committed AS more_committed, n.spent - k.own_spent AS more_spent FROM n, k),"
        " moved AS (UPDATE procurement_budget b SET committed = b.committed + d.more_committed,"
        " spent = b.spent + d.more_spent FROM d, k WHERE b.tenant_id = $1 AND b.id = $2"
        " AND (d.more_committed <> 0 OR d.more_spent <> 0)"
        " AND (NOT k.is_hard OR d.more_committed + d.more_spent <= 0"
        " OR b.committed + b.spent + d.more_committed + d.more_spent <= b.amount) RETURNING b.id),"
        " written AS (INSERT INTO procurement_budgetentry AS e (id, tenant_id, budget_id, document_id, cost_center,"
        " committed, spent, created_at, updated_at)"
        " SELECT $4::uuid, $1::uuid, $2::uuid, $3::uuid, $5::text, n.committed, n.spent, $6::timestamptz, $6::timestamptz"
        " FROM n, moved ON CONFLICT (tenant_id, budget_id, document_id) DO UPDATE SET committed = excluded.committed,"
        " spent = excluded.spent, cost_center = coalesce(nullif(excluded.cost_center, ''), e.cost_center),"
        " version = e.version + 1, updated_at = excluded.updated_at RETURNING 1)"
        " SELECT CASE WHEN d.more_committed = 0 AND d.more_spent = 0 THEN 'unchanged'"
        " WHEN moved.id IS NULL THEN 'exceeded' ELSE 'moved' END AS outcome, k.id AS budget_id, k.code, k.version, k.currency,"
        f" k.amount - CASE WHEN moved.id IS NULL THEN k.committed + k.spent ELSE {used} END AS available, k.is_hard,"
        f" k.threshold_percent, moved.id IS NOT NULL AND {_reached(used, 'k')} AND NOT {_reached('k.committed + k.spent', 'k')}"
        " AS has_crossed FROM k CROSS JOIN d LEFT JOIN moved ON true",
        row=_Row,
    )


_DECIMALS: Final = 4  # of the columns, and the most that a currency has
_GROSS: Final = "$7::numeric"
# What is spent already needs no commitment; behind the approval of an invoice its part is spent, and not committed any more.
_COMMIT = _step(f"greatest({_GROSS} - k.own_spent, 0)", "k.own_spent")
_SPEND = _step(f"greatest(k.own_committed - greatest({_GROSS} - k.own_spent, 0), 0)", _GROSS)
_GIVE_BACK = _step(f"least(k.own_committed, greatest({_GROSS} - k.own_spent, 0))", "k.own_spent")


class Choice(NamedTuple):
    """The budget and the cost centre that a document names; "" for none."""

    code: str
    cost_center: str = ""


class Hold(NamedTuple):
    """A document's hold on a budget of its buyer."""

    tenant_id: UUID
    budget_id: UUID
    document_id: UUID
    cost_center: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a step has done: whether anything changed, what is left of the budget, and what its buyer is told.

    `available` is below nothing where the enforcement `warn` let the amount be passed.
    """

    has_changed: bool
    available: Money
    told: tuple[Occurrence, ...]

    @property
    def is_exceeded(self) -> bool:
        """Tell whether more is used than the budget has, of which whoever orders is to be warned."""
        return self.available.amount < 0


def budget_call(tenant_id: UUID, choice: Choice, at: datetime, *, lock: bool = False) -> Call:
    """Return the statement that finds the budget that a document names today, by the buyer's time zone; `budget_for` reads it.

    Whoever commits locks it, so that no PUT changes its currency, period or cost centres before the commitment stands.
    """
    return Call(_HOLD if lock else _FIND, [str(tenant_id), choice.code, choice.cost_center, at.isoformat()])


def budget_for(found: Rows, currency: str) -> FoundBudget:
    """Return the budget that a document names.

    :raises InvalidFields: at `budget.code`, there is none that is active and valid today; at `budget.cost_center`, it is not
        for that cost centre.
    :raises CurrencyMismatch: it is in another currency than the document.
    """
    rows = found.of(FoundBudget)
    if not rows or not rows[0].is_usable:
        raise _unknown("code", "There is no such budget that is active and valid today.")
    if not rows[0].is_for:
        raise _unknown("cost_center", "The budget is not for this cost centre.")
    if rows[0].currency != currency:
        raise CurrencyMismatch(f"The budget is in {rows[0].currency}.", currency=rows[0].currency)
    return rows[0]


def _unknown(member: str, message: str) -> InvalidFields:
    return InvalidFields(errors=[FieldError(f"budget.{member}", "unknown_budget", message)])


def lock_call(tenant_id: UUID, budget_ids: Collection[UUID]) -> Call:
    """Return the statement that locks budgets in the order of their ids; each step comes behind it, in the same trip or later."""
    return Call(_LOCK, [str(tenant_id), array_literal(sorted({*budget_ids}))])


def commit_call(hold: Hold, gross: Decimal, at: datetime) -> Call:
    """Return the step by which a document commits its gross: at submit, and anew whenever its gross changes."""
    return _call(_COMMIT, hold, gross, at)


def spend_call(hold: Hold, spent: Decimal, at: datetime) -> Call:
    """Return the step by which invoices spend what the document has committed; `spent` is the sum of all that are approved."""
    return _call(_SPEND, hold, spent, at)


def give_back_call(hold: Hold, at: datetime, *, keeping: Decimal = Decimal(0)) -> Call:
    """Return the step by which a document gives back what it has committed, but for `keeping`, the gross that still counts.

    What is spent stays spent. It never takes more, and no budget refuses it.
    """
    return _call(_GIVE_BACK, hold, keeping, at)


def _call(step: Statement, hold: Hold, amount: Decimal, at: datetime) -> Call:
    if amount < 0 or amount != round(amount, _DECIMALS):
        raise ValueError(f"{amount} is no total of a document")  # a programming error
    keys = [str(hold.tenant_id), str(hold.budget_id), str(hold.document_id)]
    return Call(step, [*keys, uuid7_text(), hold.cost_center, at.isoformat(), f"{amount:f}"])


def moved_of(found: Rows) -> Moved:
    """Read what a step has done.

    :raises BudgetExceeded: a hard budget does not have as much; nothing has changed.
    """
    (row,) = found.of(_Row)
    if row.outcome == "exceeded":
        raise exceeded(row.available, row.currency)
    reached = BudgetThresholdReached(code=row.code, threshold_percent=row.threshold_percent)
    told = (Occurrence(reached, row.budget_id, row.version),) if row.has_crossed else ()
    return Moved(row.outcome == "moved", Money(row.available, row.currency).rounded(), told)


def exceeded(available: Decimal, currency: str) -> BudgetExceeded:
    """Return the refusal, with what is left of the budget."""
    left = Money(available, currency).rounded()
    return BudgetExceeded(f"{left.amount:f} {currency} are left.", available=left.as_json())


@needs_transaction
def commit(actor: Actor, hold: Hold, gross: Decimal, at: datetime) -> Moved:
    """Let a document commit its gross, in a transaction bound to the buyer that writes nothing else with it.

    :raises BudgetExceeded: a hard budget does not have as much.
    """
    return _run(actor, hold, commit_call(hold, gross, at), at)


@needs_transaction
def spend(actor: Actor, hold: Hold, spent: Decimal, at: datetime) -> Moved:
    """Let approved invoices spend what a document has committed; as `commit`.

    :raises BudgetExceeded: they come to more than was committed, and a hard budget does not have as much.
    """
    return _run(actor, hold, spend_call(hold, spent, at), at)


@needs_transaction
def give_back(actor: Actor, hold: Hold, at: datetime, *, keeping: Decimal = Decimal(0)) -> Moved:
    """Let a document give back what it has committed; as `commit`."""
    return _run(actor, hold, give_back_call(hold, at, keeping=keeping), at)


def _run(actor: Actor, hold: Hold, step: Call, at: datetime) -> Moved:
    *_, found = run([lock_call(hold.tenant_id, [hold.budget_id]), step])
    moved = moved_of(found)
    ledger.record_many(actor=actor, occurrences=moved.told, at=at)
    return moved
