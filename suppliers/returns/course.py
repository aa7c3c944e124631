"""The course of a return as data: every state with its actions, who takes them, where they lead and what they tell.

The transitions of the model, the triggers in the database, the refusals with `allowed`, and the tests are made of it.
Source: contract, supply-invoice.md 4; its rows stand here in their order.
"""

from enum import StrEnum
from typing import Any, Final, NamedTuple

from core.errors import InvalidTransition
from core.lifecycle import becoming

from .states import ReturnStatus


class Who(StrEnum):
    """Who takes an action."""

    BUYER = "buyer"
    SUPPLIER = "supplier"


class Step(NamedTuple):
    """One action in one state; `targets` are where it may lead, `told` the types of events that both sides are told."""

    source: str
    action: str
    who: Who
    targets: tuple[str, ...]
    told: tuple[str, ...]


NONE: Final = ""  # before there is a return
REQUESTED: Final = ReturnStatus.REQUESTED.value
AUTHORIZED: Final = ReturnStatus.AUTHORIZED.value
DECLINED: Final = ReturnStatus.DECLINED.value
IN_TRANSIT: Final = ReturnStatus.IN_TRANSIT.value
RECEIVED: Final = ReturnStatus.RECEIVED.value
COMPLETED: Final = ReturnStatus.COMPLETED.value
CANCELLED: Final = ReturnStatus.CANCELLED.value

STEPS: Final = (
    Step(NONE, "request", Who.BUYER, (REQUESTED, AUTHORIZED), ("return.requested", "return.authorized")),
    Step(REQUESTED, "authorize", Who.SUPPLIER, (AUTHORIZED,), ("return.authorized",)),
    Step(REQUESTED, "decline", Who.SUPPLIER, (DECLINED,), ("return.declined",)),
    Step(AUTHORIZED, "ship", Who.BUYER, (IN_TRANSIT,), ("return.shipped",)),
    Step(IN_TRANSIT, "receive", Who.SUPPLIER, (RECEIVED,), ("return.received",)),
    Step(RECEIVED, "inspect", Who.SUPPLIER, (COMPLETED,), ("return.inspected", "return.completed")),
    Step(COMPLETED, "inspect", Who.SUPPLIER, (COMPLETED,), ("return.inspected",)),
    Step(REQUESTED, "cancel", Who.BUYER, (CANCELLED,), ("return.cancelled",)),
    Step(AUTHORIZED, "cancel", Who.BUYER, (CANCELLED,), ("return.cancelled",)),
)  # fmt: skip


def sources() -> dict[str, list[str]]:
    """Return the states that each state is reached from; a return that is authorized at once begins as requested."""
    found: dict[str, set[str]] = {}
    for step in STEPS:
        for target in step.targets:
            if target != step.source != NONE:
                found.setdefault(target, set()).add(step.source)
    return {target: sorted(states) for target, states in sorted(found.items())}


class Course:
    """The transitions of a return, one for each state that it can go to, made of the table."""

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
