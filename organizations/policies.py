"""Whether an actor may do something to a row: each rule returns None or raises."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q

from core.actor import Actor, SubjectKind
from core.errors import FieldError, Forbidden, InvalidFields, NotFound, Unprocessable

from .models import Organization, Role, Tenant
from .queries.reachable import Reach
from .roles import FREE_FOR_MACHINES, NEVER_BY_MACHINES

PROVISION = "tenants.provision"


class ScopeEscalation(Forbidden):
    """A member cannot grant scopes that they do not hold."""

    code = "scope_escalation"
    title = "The role holds scopes that you do not hold."
    extensions = {"scopes": ["tenants.configure"]}


class OwnRoles(Forbidden):
    """A member cannot widen their own membership, nor change its locations, validity or practitioner."""

    code = "separation_of_duties"
    title = "Another person has to change your own membership."


class MachineScope(Unprocessable):
    """The scope is reserved for people."""

    code = "user_only_scope"
    title = "This scope cannot be given to a machine."
    extensions = {"scopes": ["prescriptions.sign"]}


class OutsideReach(Forbidden):
    """The change would go beyond the organizations that the caller administers."""

    code = "outside_subtree"
    title = "This lies outside the organizations you administer."


class StateScopeMissing(Forbidden):
    """The scope to configure a tenant is not enough to suspend or resume it."""

    code = "insufficient_scope"
    title = "Changing a tenant's state needs the scope tenants.provision."
    extensions = {"required": [PROVISION]}


def is_platform(actor: Actor) -> bool:
    """Tell whether the platform itself acts: a command, a worker, the admin."""
    return actor.subject.kind is SubjectKind.SYSTEM


def scopes_of_roles(tenant_id: UUID, codes: Iterable[str]) -> frozenset[str]:
    """Return the scopes of roles, which are the platform's or the tenant's own.

    :raises InvalidFields: a code names no role.
    """
    wanted = list(codes)
    found = Role.objects.filter(Q(tenant=None) | Q(tenant_id=tenant_id), code__in=wanted).values_list("code", "scopes")
    roles = dict(found)
    missing = [code for code in wanted if code not in roles]
    if missing:
        raise InvalidFields(errors=[FieldError("roles", "unknown_role", f"There is no role {missing[0]!r}.")])
    return frozenset(scope for scopes in roles.values() for scope in scopes)


def may_grant(actor: Actor, scopes: frozenset[str]) -> None:
    """Require that the actor holds the scopes that it grants to a person.

    :raises ScopeEscalation: the actor lacks some; the error names them.
    """
    missing = set() if is_platform(actor) else scopes - actor.scopes
    if missing:
        raise ScopeEscalation(scopes=sorted(missing))


def may_grant_to_key(actor: Actor, scopes: frozenset[str]) -> None:
    """Require that the actor may grant these scopes to a machine.

    Trade scopes, which a partner's system needs, may be granted by anyone, except that to pay; the actor must hold all
    others.

    :raises MachineScope: a scope is reserved for people.
    :raises ScopeEscalation: the actor lacks some; the error names them.
    """
    may_be_of_machine(scopes)
    may_grant(actor, scopes - FREE_FOR_MACHINES)


def may_be_of_machine(scopes: frozenset[str]) -> None:
    """Require that none of these scopes is reserved for people.

    :raises MachineScope: one is.
    """
    forbidden = scopes & NEVER_BY_MACHINES
    if forbidden:
        raise MachineScope(scopes=sorted(forbidden))


def may_change_tenant_status(actor: Actor) -> None:
    """Require the scope of provisioning for suspending or resuming a tenant.

    :raises StateScopeMissing: the actor lacks the scope.
    """
    if not (is_platform(actor) or actor.may(PROVISION)):
        raise StateScopeMissing(required=[PROVISION])


def organization_in_reach(actor: Actor, organization_id: UUID) -> Organization:
    """Lock and return an organization within the actor's reach.

    :raises NotFound: the organization does not exist or is out of reach.
    """
    found = Organization.objects.select_for_update(no_key=True).filter(pk=organization_id).first()
    if found is None or not (is_platform(actor) or Reach.of([actor]).holds_organization(organization_id)):
        raise NotFound("No such organization.")
    return found


def tenant_in_reach(actor: Actor, tenant_id: UUID) -> Tenant:
    """Lock and return a tenant within the actor's reach.

    :raises NotFound: the tenant does not exist or is out of reach.
    """
    found = Tenant.objects.select_for_update(no_key=True).filter(pk=tenant_id).first()
    if found is None or not (is_platform(actor) or Reach.of([actor]).holds_tenant(tenant_id)):
        raise NotFound("No such tenant.")
    return found
