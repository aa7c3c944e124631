"""The course of a payment as data: every state with its actions, where they lead and what they tell both parties.

The transitions of the model, the trigger in the database, the refusals with `allowed`, and the tests are made of this table.
Source: contract, supply-invoice.md 3; its rows stand here in their order. All actions are the buyer's.
"""

from typing import Any, Final, NamedTuple

from core.errors import InvalidTransition
from core.lifecycle import becoming

from .refusals import PaymentFinal
from .states import FINAL, PaymentMethod, PaymentStatus


class Step(NamedTuple):
    """One action in one state.

    `action` is the word of the refusal: the outcome that a confirmation names, or the last word of the path. `choice` is
    the method that tells two ways of one action apart. `told` are the types of events of both sides.
    """

    source: str
    action: str
    target: str
    told: tuple[str, ...]
    choice: str = ""


NONE: Final = ""  # before there is a payment
PENDING: Final = PaymentStatus.PENDING.value
PROCESSING: Final = PaymentStatus.PROCESSING.value
SUCCEEDED: Final = PaymentStatus.SUCCEEDED.value
FAILED: Final = PaymentStatus.FAILED.value
CANCELLED: Final = PaymentStatus.CANCELLED.value
REVERSED: Final = PaymentStatus.REVERSED.value
CREATE, CANCEL = "create", "cancel"
OFFSET: Final = PaymentMethod.OFFSET.value
OUTCOMES: Final = (PROCESSING, SUCCEEDED, FAILED, REVERSED)

STEPS: Final = (
    Step(NONE, CREATE, PENDING, ("payment.created",)),
    Step(NONE, CREATE, SUCCEEDED, ("payment.created", "payment.succeeded"), OFFSET),
    Step(PENDING, PROCESSING, PROCESSING, ("payment.processing",)),
    *(Step(one, SUCCEEDED, SUCCEEDED, ("payment.succeeded",)) for one in (PENDING, PROCESSING)),
    *(Step(one, FAILED, FAILED, ("payment.failed",)) for one in (PENDING, PROCESSING)),
    Step(PENDING, CANCEL, CANCELLED, ("payment.cancelled",)),
    Step(SUCCEEDED, REVERSED, REVERSED, ("payment.reversed",)),
)


def sources() -> dict[str, list[str]]:
    """Return the states that each state is reached from; an offset passes pending in the moment in which it is made."""
    found: dict[str, set[str]] = {}
    for step in STEPS:
        if step.source != NONE:
            found.setdefault(step.target, set()).add(step.source)
    return {target: sorted(of) for target, of in sorted(found.items())}


class Course:
    """The transitions of a payment, one for each state that it can go to, made of the table."""

    status: Any

    def become(self, target: str) -> None:
        """Go to a state that a step of the table leads to.

        :raises InvalidTransition: no step of the table leads there.
        """
        method = getattr(self, f"become_{target}", None)
        if method is None:
            raise InvalidTransition(state=str(self.status), action=target, allowed=allowed(str(self.status)))
        method()


for _target, _sources in sources().items():
    setattr(Course, f"become_{_target}", becoming(_target, _sources))


def step_of(source: str, action: str, choice: str = "") -> Step | None:
    """Return the step that the table has for an action in a state; None where there is none."""
    return next((one for one in STEPS if (one.source, one.action, one.choice) == (source, action, choice)), None)


def allowed(source: str) -> list[str]:
    """Return the words of the actions that the buyer may take in a state."""
    return sorted({one.action for one in STEPS if one.source == source})


def require(source: str, action: str) -> Step:
    """Return the step of an action in a state.

    :raises PaymentFinal: the payment is at its end.
    :raises InvalidTransition: the state does not allow the action; `allowed` are the actions that it does allow.
    """
    step = step_of(source, action)
    if step is None:
        refusal = PaymentFinal if source in FINAL else InvalidTransition
        raise refusal(state=source, action=action, allowed=allowed(source))
    return step
