"""The course of an invoice as data: every state with its actions, who takes them, where they lead and what they tell.

The transitions of the model, the trigger in the database, the refusals with `allowed`, and the tests are made of this table.
Source: contract, supply-invoice.md 2; its rows stand here in their order. "issued, matched again" is one step, because an
invoice is held against its order in the transaction in which it is issued or freed of a dispute.
"""

from enum import StrEnum
from typing import Any, Final, NamedTuple

from core.errors import InvalidTransition
from core.lifecycle import becoming

from .states import InvoiceStatus, InvoiceType


class Who(StrEnum):
    """Who takes an action."""

    BUYER = "buyer"
    SUPPLIER = "supplier"
    SYSTEM = "system"


class Step(NamedTuple):
    """One action in one state.

    `action` is the word of the path, or of what happens to the invoice; `choice` the member of the body that tells actions of
    one path apart. `targets` are where it may lead, `told` the types of events of both sides.
    """

    source: str
    action: str
    who: Who
    targets: tuple[str, ...]
    told: tuple[str, ...] = ()
    choice: str = ""


NONE: Final = ""  # before there is an invoice
ISSUED: Final = InvoiceStatus.ISSUED.value
MATCHED: Final = InvoiceStatus.MATCHED.value
MISMATCHED: Final = InvoiceStatus.MISMATCHED.value
APPROVED: Final = InvoiceStatus.APPROVED.value
DISPUTED: Final = InvoiceStatus.DISPUTED.value
PARTIALLY_PAID: Final = InvoiceStatus.PARTIALLY_PAID.value
PAID: Final = InvoiceStatus.PAID.value
REJECTED: Final = InvoiceStatus.REJECTED.value
CANCELLED: Final = InvoiceStatus.CANCELLED.value
WITHDRAW: Final = "withdraw"
PAY, REVERSE, CREDIT = "pay", "reverse", "credit"

_MATCHING: Final = ("invoice.matched", "invoice.mismatched", "invoice.approved")
_AFTER_MATCH: Final = (MATCHED, MISMATCHED, APPROVED)  # where it matches and is small enough, it is approved at once
_PAID: Final = ("invoice.paid",)
# One that is wholly credited has nothing left to pay: its release pays it.
_AGAIN: Final = (*_AFTER_MATCH, PAID)
_MATCHED_AGAIN: Final = (*_MATCHING, *_PAID)
_RESOLVED: Final = ("invoice.dispute_resolved", *_MATCHED_AGAIN)
_UNANSWERED: Final = (ISSUED, MATCHED, MISMATCHED)
_CREDITED: Final = ("credit_note.issued",)

STEPS: Final = (
    Step(NONE, "issue", Who.SUPPLIER, _AFTER_MATCH, ("invoice.issued", *_MATCHING)),
    Step(NONE, "issue", Who.SUPPLIER, (ISSUED,), _CREDITED, InvoiceType.CREDIT_NOTE.value),
    Step(NONE, "record", Who.BUYER, _AFTER_MATCH, ("invoice.issued", *_MATCHING)),
    Step(NONE, "record", Who.BUYER, (ISSUED,), _CREDITED, InvoiceType.CREDIT_NOTE.value),
    *(Step(one, "match", who, _AGAIN, _MATCHED_AGAIN) for one in _UNANSWERED for who in (Who.BUYER, Who.SYSTEM)),
    *(Step(one, "approve", Who.BUYER, (APPROVED, PAID), ("invoice.approved", *_PAID)) for one in (MATCHED, MISMATCHED)),
    *(Step(one, "dispute", Who.BUYER, (DISPUTED,), ("invoice.disputed",)) for one in (*_UNANSWERED, APPROVED)),
    Step(DISPUTED, "dispute", Who.BUYER, _AGAIN, _RESOLVED, WITHDRAW),
    *(
        Step(one, CREDIT, who, targets, told)
        for who in (Who.SUPPLIER, Who.SYSTEM)  # the system: for a return
        for one, targets, told in (
            *((one, _AGAIN, (*_CREDITED, *_MATCHED_AGAIN)) for one in _UNANSWERED),
            (DISPUTED, _AGAIN, (*_CREDITED, *_RESOLVED)),
            (APPROVED, (APPROVED, PAID), (*_CREDITED, *_PAID)),
            (PARTIALLY_PAID, (PARTIALLY_PAID, PAID), (*_CREDITED, *_PAID)),
            (PAID, (PAID,), _CREDITED),
        )
    ),
    *(Step(one, "reject", Who.BUYER, (REJECTED,), ("invoice.rejected",)) for one in (*_UNANSWERED, DISPUTED)),
    *(Step(one, "cancel", Who.SUPPLIER, (CANCELLED,), ("invoice.cancelled",)) for one in (*_UNANSWERED, DISPUTED)),
    *(Step(one, PAY, Who.SYSTEM, (PARTIALLY_PAID, PAID), _PAID) for one in (APPROVED, PARTIALLY_PAID)),
    *(Step(one, REVERSE, Who.SYSTEM, (APPROVED, PARTIALLY_PAID)) for one in (PARTIALLY_PAID, PAID)),
)  # fmt: skip


def sources() -> dict[str, list[str]]:
    """Return the states that each state is reached from, staying in it aside."""
    found: dict[str, set[str]] = {MATCHED: {ISSUED}, MISMATCHED: {ISSUED}, APPROVED: {MATCHED}}
    for step in STEPS:
        for target in step.targets:
            if step.source not in (target, NONE):
                found.setdefault(target, set()).add(step.source)
    return {target: sorted(of) for target, of in sorted(found.items())}


class Course:
    """The transitions of an invoice, one for each state that it can go to, made of the table."""

    status: Any

    def become(self, target: str) -> None:
        """Go to a state that a step of the table leads to; staying in the present one is none.

        :raises InvalidTransition: no step of the table leads there.
        """
        if target == self.status:
            return
        method = getattr(self, f"become_{target}", None)
        if method is None:
            raise InvalidTransition(state=str(self.status), action=target, allowed=[])
        method()


for _target, _sources in sources().items():
    setattr(Course, f"become_{_target}", becoming(_target, _sources))


def step_of(source: str, action: str, who: Who, choice: str = "") -> Step | None:
    """Return the step that the table has for an action in a state; None where there is none."""
    wanted = (source, action, who, choice)
    return next((one for one in STEPS if (one.source, one.action, one.who, one.choice) == wanted), None)


def allowed(source: str, who: Who) -> list[str]:
    """Return the words of the actions that a side may take in a state."""
    return sorted({one.action for one in STEPS if one.source == source and one.who == who})


def require(source: str, action: str, who: Who, choice: str = "") -> Step:
    """Return the step of an action in a state.

    :raises InvalidTransition: the state does not allow the action; `allowed` are the actions of the same side.
    """
    step = step_of(source, action, who, choice)
    if step is None:
        raise InvalidTransition(state=source, action=action, allowed=allowed(source, who))
    return step


def refuse(source: str, action: str) -> InvalidTransition:
    """Return the refusal of any action on a document that has no course of its own: a credit note."""
    return InvalidTransition(state=source, action=action, allowed=[])
