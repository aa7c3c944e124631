"""The course of an order as data: every state with its actions, who takes them, where they lead and what they tell.

The transitions of the model, the trigger in the database, the refusals with `allowed`, and the tests are made of this table.
Source: contract, supply-order.md 2 "States"; its rows stand here in their order.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from core.errors import InvalidTransition
from core.lifecycle import becoming

from .states import ApprovalFor, OrderStatus, Party


class Who(StrEnum):
    """Who takes an action; an approver is a member of the buyer other than the authors."""

    BUYER = "buyer"
    APPROVER = "approver"
    SUPPLIER = "supplier"
    SYSTEM = "system"


class Place(NamedTuple):
    """A state of an order, and which of its kinds: what an approval is for, or who has proposed a change."""

    status: str
    detail: str = ""


class Step(NamedTuple):
    """One action in one state.

    `action` is the word of its path; `choice` the member of the body that tells actions of one path apart. `targets` are
    where it may lead; `BEFORE` is the state before the change. `buyer` and `supplier` are the types of events that each side
    is told, in all that it may lead to. `refusals` are codes beside `invalid_transition`.
    """

    source: Place
    action: str
    who: Who
    targets: tuple[Place, ...]
    buyer: tuple[str, ...] = ()
    supplier: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    choice: str = ""


DRAFT: Final = Place(OrderStatus.DRAFT.value)
FOR_SENDING: Final = Place(OrderStatus.PENDING_APPROVAL.value, ApprovalFor.SENDING.value)
FOR_SUPPLIERS: Final = Place(OrderStatus.PENDING_APPROVAL.value, ApprovalFor.SUPPLIER_CHANGE.value)
FOR_BUYERS: Final = Place(OrderStatus.PENDING_APPROVAL.value, ApprovalFor.BUYER_CHANGE.value)
SENT: Final = Place(OrderStatus.SENT.value)
BY_SUPPLIER: Final = Place(OrderStatus.CHANGE_PROPOSED.value, Party.SUPPLIER.value)
BY_BUYER: Final = Place(OrderStatus.CHANGE_PROPOSED.value, Party.BUYER.value)
ACCEPTED: Final = Place(OrderStatus.ACCEPTED.value)
REJECTED: Final = Place(OrderStatus.REJECTED.value)
CANCELLED: Final = Place(OrderStatus.CANCELLED.value)
CLOSED: Final = Place(OrderStatus.CLOSED.value)
PLACES: Final = (
    DRAFT, FOR_SENDING, FOR_SUPPLIERS, FOR_BUYERS, SENT, BY_SUPPLIER, BY_BUYER, ACCEPTED, REJECTED, CANCELLED, CLOSED,
)  # fmt: skip
# The states that a change begins in, and that it goes back to where it is declined, withdrawn or not approved.
BEFORE: Final = (SENT, BY_SUPPLIER, ACCEPTED)

_PLACED: Final = "order.placed"
_SENT: Final = "purchase_order.sent"
_MANAGED: Final = "purchase_order.accepted"  # by being sent to a managed supplier
_CONTENT: Final = ("already_decided", "revision_changed")
LIMITS: Final = (
    "supplier_not_qualified", "relationship_blocked", "spend_limit_exceeded", "not_on_formulary", "offer_not_available",
    "price_changed", "insufficient_stock", "order_quantity_invalid", "license_missing", "budget_exceeded",
    "agreement_exhausted", "promotion_exhausted", "allocation_exceeded", "reservation_not_active",
)  # fmt: skip


def _both(word: str) -> tuple[tuple[str], tuple[str]]:
    return (f"purchase_order.{word}",), (f"order.{word}",)


def _with_items(buyer: tuple[str, ...], supplier: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (*buyer, "order_item.updated"), (*supplier, "order_item.updated")


def _approvals() -> Iterator[Step]:
    """Yield what approvers do, by what the approval is for."""
    ends: dict[Place, tuple[tuple[Place, ...], tuple[Place, ...], tuple[str, ...], tuple[str, ...]]] = {
        FOR_SENDING: ((SENT, ACCEPTED), (DRAFT,), (_SENT, _MANAGED), (_PLACED,)),
        FOR_SUPPLIERS: ((ACCEPTED,), (BY_SUPPLIER,), *_both("accepted")),
        FOR_BUYERS: (
            (BY_BUYER, ACCEPTED),
            BEFORE,
            ("purchase_order.change_proposed", _MANAGED),
            ("order.change_proposed",),
        ),
    }
    for source, (approved, refused, buyer, supplier) in ends.items():
        told = ("purchase_order.approved", *buyer)
        yield Step(source, "approve", Who.APPROVER, (source, *approved), told, supplier, _CONTENT)
        yield Step(source, "reject", Who.APPROVER, refused, ("purchase_order.approval_rejected",), (), _CONTENT)


def _answers() -> Iterator[Step]:
    """Yield what the supplier does with an order that it has received, and the buyer with its answer."""
    accepted, proposed, declined = _both("accepted"), _both("change_proposed"), _both("change_declined")
    rejected, cancelled = _both("rejected"), _both("cancelled")
    revision = ("revision_changed",)
    yield Step(SENT, "accept", Who.SUPPLIER, (ACCEPTED,), *accepted, ("insufficient_stock",))
    for source in (SENT, BY_SUPPLIER):
        told = _with_items(*proposed)
        refusals = ("substitution_not_allowed",)
        yield Step(source, "accept", Who.SUPPLIER, (BY_SUPPLIER,), *told, refusals, "lines")
        yield Step(source, "items", Who.SUPPLIER, (BY_SUPPLIER,), *told, refusals)
    yield Step(ACCEPTED, "items", Who.SUPPLIER, (ACCEPTED,), *_with_items((), ()))  # the rest that is not shipped
    more = (*revision, *LIMITS)
    pending = ("purchase_order.submitted",)  # where approvers decide first
    told = ((*accepted[0], *pending), accepted[1])
    yield Step(BY_SUPPLIER, "confirm-changes", Who.BUYER, (ACCEPTED, FOR_SUPPLIERS), *told, more, "accept")
    yield Step(BY_SUPPLIER, "confirm-changes", Who.BUYER, (CANCELLED,), *cancelled, revision, "decline")
    for source in BEFORE:
        told = ((*proposed[0], *pending), proposed[1])
        targets = (
            BY_BUYER,
            FOR_BUYERS,
            *([ACCEPTED] if source == ACCEPTED else []),
        )  # nobody answers at a managed supplier
        told = ((*told[0], *([_MANAGED] if source == ACCEPTED else [])), told[1])
        yield Step(source, "propose-changes", Who.BUYER, targets, *told, (*more, "already_shipped"))
    yield Step(BY_BUYER, "accept", Who.SUPPLIER, (ACCEPTED,), *accepted, (*revision, "insufficient_stock"), "accept")
    yield Step(BY_BUYER, "accept", Who.SUPPLIER, BEFORE, *declined, revision, "decline")
    yield Step(BY_BUYER, "confirm-changes", Who.BUYER, BEFORE, *declined, revision, "withdraw")
    for source in (SENT, BY_SUPPLIER, BY_BUYER):
        yield Step(source, "reject", Who.SUPPLIER, (REJECTED,), *rejected)


def _ends() -> Iterator[Step]:
    """Yield how the buyer ends an order."""
    own, other = _both("cancelled")
    for source in (DRAFT, FOR_SENDING):
        yield Step(source, "cancel", Who.BUYER, (CANCELLED,), own)
    for source in (FOR_SUPPLIERS, FOR_BUYERS, SENT, BY_SUPPLIER, BY_BUYER):
        yield Step(source, "cancel", Who.BUYER, (CANCELLED,), own, other, ("cancellation_not_allowed",))
    refusals = ("already_shipped", "cancellation_not_allowed")
    yield Step(ACCEPTED, "cancel", Who.BUYER, (CANCELLED,), own, other, refusals)
    told = _with_items(own, other)
    yield Step(ACCEPTED, "cancel", Who.BUYER, (ACCEPTED,), *told, refusals, "remainder")
    for who in (Who.BUYER, Who.SYSTEM):
        yield Step(ACCEPTED, "close", who, (CLOSED,), *_both("closed"), ("open_delivery", "open_invoice"))


STEPS: Final = (
    Step(DRAFT, "update", Who.BUYER, (DRAFT,), ("purchase_order.updated",)),
    Step(
        DRAFT, "submit", Who.BUYER, (FOR_SENDING, SENT, ACCEPTED), ("purchase_order.submitted", _SENT, _MANAGED), (_PLACED,),
        LIMITS,
    ),
    *_approvals(),
    *_answers(),
    *_ends(),
)  # fmt: skip


def sources() -> dict[str, list[str]]:
    """Return the states that each state is reached from, staying in it aside."""
    found: dict[str, set[str]] = {}
    for step in STEPS:
        for target in step.targets:
            if target.status != step.source.status:
                found.setdefault(target.status, set()).add(step.source.status)
    return {target: sorted(of) for target, of in sorted(found.items())}


class Course:
    """The transitions of an order, one for each state that it can go to, made of the table."""


for _target, _sources in sources().items():
    setattr(Course, f"become_{_target}", becoming(_target, _sources))


def step_of(place: Place, action: str, who: Who, choice: str = "") -> Step | None:
    """Return the step that the table has for an action in a state; None where there is none."""
    wanted = (place, action, who, choice)
    return next((one for one in STEPS if (one.source, one.action, one.who, one.choice) == wanted), None)


def allowed(place: Place, *roles: Who) -> list[str]:
    """Return the words of the actions that some roles may take in a state."""
    return sorted({one.action for one in STEPS if one.source == place and one.who in roles})


def shown(place: Place, who: Who) -> str:
    """Return the state as one side reads it: a supplier sees nothing of the buyer's approvals."""
    is_hidden = who is Who.SUPPLIER and place.status == OrderStatus.PENDING_APPROVAL
    return OrderStatus.CHANGE_PROPOSED.value if is_hidden else place.status


def require(place: Place, action: str, who: Who, choice: str = "") -> Step:
    """Return the step of an action in a state.

    :raises InvalidTransition: the state does not allow the action; `allowed` are the actions of the same side.
    """
    step = step_of(place, action, who, choice)
    if step is None:
        side = (Who.SUPPLIER,) if who is Who.SUPPLIER else (Who.BUYER, Who.APPROVER)
        raise InvalidTransition(state=shown(place, who), action=action, allowed=allowed(place, *side))
    return step
