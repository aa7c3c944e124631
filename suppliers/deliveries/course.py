"""The course of a shipment as data: every state with its actions, who takes them, where they lead and what they tell.

The transitions of both models, the triggers in the database, the refusals with `allowed`, and the tests are made of it.
Source: contract, supply-order.md 3; its rows stand here in their order.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Any, Final, NamedTuple

from core.errors import InvalidTransition
from core.lifecycle import becoming

from .states import OF_DELIVERY, OF_DRAFT, DeliveryStatus


class Who(StrEnum):
    """Who takes an action."""

    SUPPLIER = "supplier"
    BUYER = "buyer"


class Step(NamedTuple):
    """One action in one state.

    `action` is the word of the refusal: the status that a PATCH asks for, or the last word of the path. `targets` are
    where it may lead. `told` are the types of events of both sides, `supplier` those that the supplier alone is told.
    """

    source: str
    action: str
    who: Who
    targets: tuple[str, ...]
    told: tuple[str, ...] = ()
    supplier: tuple[str, ...] = ()


NONE: Final = ""  # before there is a shipment
PREPARING: Final = DeliveryStatus.PREPARING.value
IN_TRANSIT: Final = DeliveryStatus.IN_TRANSIT.value
DELIVERED: Final = DeliveryStatus.DELIVERED.value
PARTIALLY_RECEIVED: Final = DeliveryStatus.PARTIALLY_RECEIVED.value
COMPLETED: Final = DeliveryStatus.COMPLETED.value
CANCELLED: Final = DeliveryStatus.CANCELLED.value
LOST: Final = DeliveryStatus.LOST.value
UNDER_WAY: Final = (IN_TRANSIT, DELIVERED, PARTIALLY_RECEIVED)
_HANDED_OVER: Final = (*UNDER_WAY, COMPLETED, LOST)
_SHIPPED: Final = ("delivery.shipped",)
_REPORTED: Final = ("delivery.exception_reported",)
_RECEIVED: Final = ("delivery.received", "delivery.completed")

STEPS: Final = (
    Step(NONE, "prepare", Who.SUPPLIER, (PREPARING,)),
    Step(NONE, "ship", Who.SUPPLIER, (IN_TRANSIT,), _SHIPPED),
    Step(PREPARING, "update", Who.SUPPLIER, (PREPARING,)),
    Step(PREPARING, IN_TRANSIT, Who.SUPPLIER, (IN_TRANSIT,), _SHIPPED),
    Step(PREPARING, CANCELLED, Who.SUPPLIER, (CANCELLED,), (), ("delivery.cancelled",)),
    *(Step(one, "update", Who.SUPPLIER, (one,), ("delivery.updated",)) for one in UNDER_WAY),
    Step(IN_TRANSIT, DELIVERED, Who.SUPPLIER, (DELIVERED,), ("delivery.delivered",)),
    *(Step(one, "receipts", Who.BUYER, (PARTIALLY_RECEIVED, COMPLETED), _RECEIVED) for one in UNDER_WAY),
    *(
        Step(one, "reverse", Who.BUYER, (PARTIALLY_RECEIVED,), ("delivery.received",))
        for one in (COMPLETED, PARTIALLY_RECEIVED)
    ),
    Step(IN_TRANSIT, LOST, Who.SUPPLIER, (LOST,), ("delivery.lost",)),
    Step(IN_TRANSIT, LOST, Who.BUYER, (LOST,), (*_REPORTED, "delivery.lost")),
    *(Step(one, "exceptions", who, (one,), _REPORTED) for one in _HANDED_OVER for who in Who),
)  # fmt: skip


def sources(of: Collection[str]) -> dict[str, list[str]]:
    """Return the states that each state of a model is reached from, staying in it aside."""
    found: dict[str, set[str]] = {}
    for step in STEPS:
        for target in step.targets:
            if target != step.source and {step.source, target} <= {*of}:
                found.setdefault(target, set()).add(step.source)
    return {target: sorted(states) for target, states in sorted(found.items())}


class _Course:
    """The transitions of a model, one for each state that it can go to, made of the table."""

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


class DeliveryCourse(_Course):
    """The transitions of a delivery."""


class DraftCourse(_Course):
    """The transitions of a shipment in preparation; where it leaves, the delivery takes its place."""


for _model, _of in ((DeliveryCourse, OF_DELIVERY), (DraftCourse, OF_DRAFT)):
    for _target, _sources in sources(_of).items():
        setattr(_model, f"become_{_target}", becoming(_target, _sources))


def step_of(source: str, action: str, who: Who) -> Step | None:
    """Return the step that the table has for an action in a state; None where there is none."""
    return next((one for one in STEPS if (one.source, one.action, one.who) == (source, action, who)), None)


def allowed(source: str, who: Who) -> list[str]:
    """Return the words of the actions that a side may take in a state."""
    return sorted({one.action for one in STEPS if one.source == source and one.who == who})


def require(source: str, action: str, who: Who) -> Step:
    """Return the step of an action in a state.

    :raises InvalidTransition: the state does not allow the action; `allowed` are the actions of the same side.
    """
    step = step_of(source, action, who)
    if step is None:
        raise InvalidTransition(state=source, action=action, allowed=allowed(source, who))
    return step
