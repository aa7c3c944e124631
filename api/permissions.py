"""Checks of whether a caller may run an operation. The default is no: an action without an `Operation` answers 403."""

from typing import Any

from rest_framework.permissions import BasePermission

from core import clock
from core.actor import Actor, Subject, SubjectKind
from core.errors import Forbidden
from core.step_up import demand_step_up

from .operations import Operation

BUYER = "buyer"  # the `kind` of an operation for whoever may buy
BUYING_KINDS = frozenset({"provider", "pharmacy"})


class InsufficientScope(Forbidden):
    """The effective scopes (credential and roles) lack the operation's scope."""

    code = "insufficient_scope"
    title = "The credential or role lacks the scope."
    extensions = {"required": ["catalog:write"]}


class UserRequired(Forbidden):
    """The operation is for signed-in people; API keys and services may not run it."""

    code = "user_required"
    title = "Only a signed-in person may do this."


class FeatureNotEnabled(Forbidden):
    """The tenant's plan does not include the feature."""

    code = "feature_not_enabled"
    title = "The tenant's plan does not include this feature."
    extensions = {"feature": "marketplace"}


class NotASupplier(Forbidden):
    """The tenant is not of the kind the operation serves."""

    code = "not_a_supplier"
    title = "The tenant is not a supplier."


class NotABuyer(Forbidden):
    """The tenant is a supplier only, and may not buy."""

    code = "not_a_buyer"
    title = "The tenant is neither a provider nor a pharmacy."


class Denied(BasePermission):
    """DRF's default permission, which denies every view outside `ApiViewSet`."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return False


def authorize(operation: Operation, actor: Actor) -> None:
    """Check kind, scope, feature, person and step-up, in the order of the contract.

    :raises InsufficientScope, FeatureNotEnabled, NotASupplier, NotABuyer, UserRequired, StepUpRequired: as named.
    """
    authorize_as(operation, actor, scope=operation.scope, kind=operation.kind, feature=operation.feature)


def authorize_as(
    operation: Operation, actor: Actor, *, scope: str | None, kind: str | None, feature: str | None = None
) -> None:
    """Check the same, with scope, kind and feature in place of the operation's own.

    :raises InsufficientScope, FeatureNotEnabled, NotASupplier, NotABuyer, UserRequired, StepUpRequired: as named.
    """
    wanted = operation.any_scope or ((scope,) if scope else ())
    if wanted and not any(map(actor.may, wanted)):
        challenge = f'Bearer error="insufficient_scope", scope="{" ".join(wanted)}"'
        raise InsufficientScope(
            f"The operation needs the scope {' or '.join(wanted)}.",
            headers={"WWW-Authenticate": challenge},
            required=list(wanted),
        )
    _authorize_kind(kind or "", actor)
    if feature and feature not in actor.features:
        raise FeatureNotEnabled(f"The feature {feature} is not enabled.", feature=feature)
    _authorize_person(operation, actor.subject)


def _authorize_kind(kind: str, actor: Actor) -> None:
    if kind == BUYER and not BUYING_KINDS & actor.tenant_kinds:
        raise NotABuyer
    if kind and kind != BUYER and kind not in actor.tenant_kinds:
        raise NotASupplier(f"The tenant is not of the kind {kind}.")


def _authorize_person(operation: Operation, subject: Subject) -> None:
    if operation.user_only and subject.kind is not SubjectKind.USER:
        raise UserRequired
    if operation.step_up_seconds:
        demand_step_up(subject, operation.step_up_seconds, at=clock.now())
