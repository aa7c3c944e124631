"""What an operation demands of its caller. Denied is the default: an action without an `Operation` answers 403."""

from dataclasses import dataclass, field
from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.serializers import Serializer

from core import clock
from core.actor import Actor, Subject, SubjectKind
from core.errors import Forbidden, PlatformError

from .listing import Listing
from .shapes import Shape


class InsufficientScope(Forbidden):
    """The effective scopes (credential and roles) lack the operation's scope."""

    code = "insufficient_scope"
    title = "The credential or role lacks the scope."
    extensions = {"required": ["catalog:write"]}


class StepUpRequired(Forbidden):
    """A fresh second factor is needed. Source: RFC 9470."""

    code = "step_up_required"
    title = "A recent sign-in with a second factor is required."
    extensions = {"max_age": 300, "acr_values": "mfa"}


class UserRequired(Forbidden):
    """No key and no service may do this."""

    code = "user_required"
    title = "Only a signed-in person may do this."


class FeatureNotEnabled(Forbidden):
    """The tenant's plan does not hold the feature."""

    code = "feature_not_enabled"
    title = "The tenant's plan does not include this feature."
    extensions = {"feature": "marketplace"}


class NotASupplier(Forbidden):
    """The tenant is not of the kind the operation serves."""

    code = "not_a_supplier"
    title = "The tenant is not a supplier."


class Denied(BasePermission):
    """DRF's default permission: views outside `ApiViewSet` answer nobody."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint: what it demands, reads and answers. Routing, checks and the OpenAPI document read it.

    `scope` "" means any active member; `tenant` is "required", "optional" (all the subject's tenants when no header) or
    "none"; `public` needs no credential. `kind` is a kind the tenant must hold. `costs` False spends no unit of a limit.
    """

    scope: str
    summary: str
    description: str = ""
    body: type[Serializer[Any]] | None = None
    shape: Shape | None = None
    listing: Listing | None = None
    status: int = 200
    errors: tuple[type[PlatformError], ...] = ()
    tenant: str = "required"
    public: bool = False
    policy: str = ""
    costs: bool = True
    kind: str = ""
    feature: str = ""
    user_only: bool = False
    step_up_seconds: int = 0
    partial: bool = False
    secrets: tuple[str, ...] = ()
    answer: dict[str, Any] | None = None
    items: dict[str, Any] | None = None
    example: dict[str, Any] | None = None
    parameters: tuple[dict[str, Any], ...] = ()
    any_scope: tuple[str, ...] = field(default=())


def authorize(operation: Operation, actor: Actor) -> None:
    """Check kind, scope, feature, person and step-up, in the order of the contract.

    :raises InsufficientScope, FeatureNotEnabled, NotASupplier, UserRequired, StepUpRequired: as named.
    """
    wanted = operation.any_scope or ((operation.scope,) if operation.scope else ())
    if wanted and not any(actor.may(scope) for scope in wanted):
        challenge = f'Bearer error="insufficient_scope", scope="{" ".join(wanted)}"'
        raise InsufficientScope(
            f"This needs the scope {' or '.join(wanted)}.",
            headers={"WWW-Authenticate": challenge},
            required=list(wanted),
        )
    if operation.kind and operation.kind not in actor.tenant_kinds:
        raise NotASupplier(f"The tenant does not hold the kind {operation.kind}.")
    if operation.feature and operation.feature not in actor.features:
        raise FeatureNotEnabled(f"The feature {operation.feature} is not enabled.", feature=operation.feature)
    _authorize_person(operation, actor.subject)


def _authorize_person(operation: Operation, subject: Subject) -> None:
    if operation.user_only and subject.kind is not SubjectKind.USER:
        raise UserRequired
    if not operation.step_up_seconds:
        return
    at = subject.authenticated_at
    if subject.acr != "mfa" or at is None or (clock.now() - at).total_seconds() > operation.step_up_seconds:
        challenge = (
            f'Bearer error="insufficient_user_authentication", acr_values="mfa", max_age={operation.step_up_seconds}'
        )
        raise StepUpRequired(
            headers={"WWW-Authenticate": challenge}, max_age=operation.step_up_seconds, acr_values="mfa"
        )
