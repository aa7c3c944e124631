"""Writes of the platform's staff on accounts: staff roles, deactivation and unlocking."""

from datetime import datetime

from core.db import needs_transaction
from core.errors import Conflict, FieldError, Forbidden, InvalidFields
from organizations.models import StaffRole, TotpDevice, User
from organizations.signin import lockout, sessions


class OwnAccount(Forbidden):
    """Members of staff cannot change their own role or deactivate their own account."""

    code = "separation_of_duties"
    title = "Another administrator has to change your own account."


class NothingToChange(Conflict):
    """The account already has the wanted role or state."""

    code = "nothing_to_change"
    title = "There is nothing to change."


class LastStaffAdministrator(Conflict):
    """The change would leave the platform without an administrator."""

    code = "last_administrator"
    title = "The last administrator of the platform cannot be removed."


@needs_transaction
def appoint(*, user: User, role: str, by: User | None, at: datetime) -> User:
    """Give a locked user a staff role, "" for none, and end the user's sessions, since their rights change.

    :raises InvalidFields: there is no such role.
    :raises OwnAccount: `by` is the user.
    :raises NothingToChange: the user already has this role.
    :raises LastStaffAdministrator: nobody would be left to administer the platform.
    """
    if role not in ("", *StaffRole.values):
        raise InvalidFields(errors=[FieldError("role", "invalid_choice", f"There is no staff role {role!r}.")])
    if by is not None and by.pk == user.pk:
        raise OwnAccount
    if user.staff_role == role and user.is_staff == bool(role):
        raise NothingToChange
    _keep_one_administrator(user, stays=role == StaffRole.ADMINISTRATOR)
    user.staff_role, user.is_staff, user.is_superuser = role, bool(role), False
    user.save(update_fields=["staff_role", "is_staff", "is_superuser"])
    sessions.end_all(user.pk, reason="staff_role_changed", at=at)
    return user


@needs_transaction
def deactivate(*, user: User, by: User | None, at: datetime) -> int:
    """Deactivate a locked user, end all of the user's sessions and return their number.

    :raises OwnAccount: `by` is the user.
    :raises NothingToChange: the user is already deactivated.
    :raises LastStaffAdministrator: nobody would be left to administer the platform.
    """
    if by is not None and by.pk == user.pk:
        raise OwnAccount
    if not user.is_active:
        raise NothingToChange
    _keep_one_administrator(user, stays=False)
    user.is_active = False
    user.save(update_fields=["is_active"])
    return sessions.end_all(user.pk, reason="deactivated", at=at)


@needs_transaction
def reactivate(*, user: User) -> User:
    """Reactivate a locked user.

    :raises NothingToChange: the user is active.
    """
    if user.is_active:
        raise NothingToChange
    user.is_active = True
    user.save(update_fields=["is_active"])
    return user


@needs_transaction
def unlock(*, user: User) -> int:
    """Delete the counters of a user's failed sign-ins, which ends a lockout; return their number."""
    return lockout.unlock("password", user.email) + lockout.unlock("totp", str(user.pk))


@needs_transaction
def remove_second_factor(*, user: User, by: User | None, at: datetime) -> int:
    """Remove a locked user's second factor, after the device was lost; end all sessions and return their number.

    :raises OwnAccount: `by` is the user.
    :raises NothingToChange: no second factor is enrolled.
    """
    if by is not None and by.pk == user.pk:
        raise OwnAccount
    if not TotpDevice.objects.filter(user=user).delete()[0]:
        raise NothingToChange
    lockout.unlock("totp", str(user.pk))
    return sessions.end_all(user.pk, reason="second_factor_removed", at=at)


def _keep_one_administrator(user: User, *, stays: bool) -> None:
    """Require another administrator; all are locked in one order, so that two cannot remove each other."""
    if stays or user.staff_role != StaffRole.ADMINISTRATOR:
        return
    administrators = User.objects.select_for_update(no_key=True).filter(
        is_active=True, is_staff=True, staff_role=StaffRole.ADMINISTRATOR
    )
    if set(administrators.order_by("pk").values_list("pk", flat=True)) <= {user.pk}:
        raise LastStaffAdministrator
