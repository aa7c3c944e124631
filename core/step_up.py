"""The demand for a recent second factor, made by an operation or by a rule of an action. Source: RFC 9470."""

from datetime import datetime

from .actor import Subject
from .errors import Forbidden

MFA = "mfa"


class StepUpRequired(Forbidden):
    """The second factor is absent or too old; `max_age` is its allowed age in seconds, `acr_values` the demand."""

    code = "step_up_required"
    title = "A recent sign-in with a second factor is required."
    extensions = {"max_age": 300, "acr_values": "mfa"}


def demand_step_up(subject: Subject, seconds: int, *, at: datetime) -> None:
    """Demand that the subject proved a second factor at most `seconds` before `at`.

    The refusal carries the challenge that tells a client how to sign in again; the same request may then be repeated.

    :raises StepUpRequired: there was no second factor, as with API keys and service accounts, or it is too old.
    """
    proved_at = subject.authenticated_at
    if subject.acr == MFA and proved_at is not None and (at - proved_at).total_seconds() <= seconds:
        return
    challenge = f'Bearer error="insufficient_user_authentication", acr_values="{MFA}", max_age={seconds}'
    raise StepUpRequired(headers={"WWW-Authenticate": challenge}, max_age=seconds, acr_values=MFA)
