"""Provisioning of a tenant in steps. Each finished step is recorded, so that a later run continues after it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db import connection, transaction

from core.actor import Actor, system_actor
from core.db import tenant_context
from core.errors import Conflict, Duplicate, FieldError, Forbidden, InvalidFields, Unprocessable
from ledger import public as ledger
from organizations.events import MembershipInvited, OrganizationCreated, TenantProvisioned
from organizations.grants import EVERYWHERE, may_grant_extent
from organizations.models import LIVE, Membership, Organization, ProvisioningStep, Role, Tenant
from organizations.plans import PLANS, SANDBOX_PLAN, Plan, is_within
from organizations.policies import is_platform
from organizations.queries.reachable import Reach
from organizations.roles import PLATFORM_ROLES, TENANT_ADMIN
from organizations.signin import invitations
from organizations.signing_keys import ensure_keys
from organizations.tenant_keys import create_key

from . import configuration, entitlements, locations
from .memberships import Terms, open_membership, user_of
from .tenants import record_event

PLAIN_FIELDS = ("region", "time_zone", "locale", "currency", "environment")
ORGANIZATION_TYPES = {"provider": "hospital", "pharmacy": "pharmacy", "supplier": "supplier"}


class UnknownOrganization(Unprocessable):
    """The organization does not exist or is out of the caller's reach."""

    code = "unknown_organization"
    title = "There is no such organization."


class PlanAboveOwn(Forbidden):
    """The plan gives more than any plan that the caller's own organization has; staff grant it."""

    code = "plan_above_own"
    title = "A plan above that of the organization is chosen by the platform's staff."
    extensions: ClassVar = {"allowed": ["standard"]}


class OtherTenant(Conflict):
    """A tenant with this slug exists, with other kinds or already ended."""

    code = "duplicate"
    title = "Another tenant has this slug."


@dataclass(frozen=True, slots=True)
class FirstMember:
    """A person who is invited while the tenant is provisioned."""

    email: str
    roles: tuple[str, ...] = (TENANT_ADMIN,)
    name: str = ""


@dataclass(frozen=True, slots=True)
class TenantSpec:
    """A tenant to provision. Without `organization_id` the organization is found or created by `organization_slug`."""

    slug: str
    name: str
    kinds: tuple[str, ...]
    organization_id: UUID | None = None
    organization_slug: str = ""
    organization_name: str = ""
    plan: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    members: tuple[FirstMember, ...] = ()

    @classmethod
    def of(cls, data: dict[str, Any]) -> "TenantSpec":
        """Take the specification from a validated body."""
        email = data.get("admin_email")
        return cls(
            slug=data["slug"],
            name=data["name"],
            kinds=tuple(data["kinds"]),
            organization_id=data.get("organization_id"),
            plan=data.get("plan", ""),
            fields={name: data[name] for name in PLAIN_FIELDS if name in data},
            members=(FirstMember(email=email, name=data.get("admin_name", "")),) if email else (),
        )

    @property
    def chosen_plan(self) -> str:
        """The named plan, else the default plan of the environment."""
        return self.plan or (SANDBOX_PLAN if self.fields.get("environment") == "sandbox" else "standard")


@dataclass(slots=True)
class Provisioned:
    """The outcome: the tenant, the steps of this run, and the links of its invitations by e-mail, shown once."""

    tenant: Tenant
    created: bool
    steps: list[str] = field(default_factory=list)
    invitations: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Run:
    """One call of `provision_tenant`: actor, specification, instant and outcome."""

    actor: Actor
    spec: TenantSpec
    at: datetime
    outcome: Provisioned

    @property
    def tenant(self) -> Tenant:
        return self.outcome.tenant


def create_tenant(actor: Actor, data: dict[str, Any], at: datetime) -> Tenant:
    """Provision the tenant that a validated body describes, and invite its first administrator if one is named.

    :raises InvalidFields, GrantBeyondOwn, UnknownOrganization, Duplicate: as `provision_tenant`.
    :raises PlanAboveOwn: as said there.
    """
    spec = TenantSpec.of(data)
    _check(spec)
    return provision_tenant(actor=actor, spec=_within_own_plans(actor, spec), at=at).tenant


def _within_own_plans(actor: Actor, spec: TenantSpec) -> TenantSpec:
    """Hold the plan to those of the caller's own organization; a body that names none gets the best that is allowed.

    :raises PlanAboveOwn: the body names another.
    """
    if is_platform(actor):
        return spec
    own = _plans_of(actor.organization_id) if actor.organization_id else []
    allowed = [plan.name for plan in PLANS.values() if any(is_within(plan, held) for held in own)]
    if spec.chosen_plan in allowed:
        return spec
    if spec.plan or not own:
        text = f"The plan {spec.chosen_plan} gives more than those of your organization."
        raise PlanAboveOwn(text, allowed=sorted(allowed))
    return replace(spec, plan=own[0].name)


def _plans_of(organization_id: UUID) -> list[Plan]:
    """Return the plans of an organization's own tenants, the oldest tenant's first."""
    living = (Tenant.Status.ACTIVE, Tenant.Status.SUSPENDED)
    rows = Tenant.objects.filter(organization_id=organization_id, status__in=living).order_by("id")
    return [PLANS[name] for name in rows.values_list("plan", flat=True) if name in PLANS]


def provision_tenant(*, actor: Actor, spec: TenantSpec, at: datetime) -> Provisioned:
    """Provision a tenant, or continue where an earlier run for the same slug stopped.

    If a step fails, a command keeps the work of the steps before it; a request rolls all of it back.

    :raises InvalidFields: the plan or a role does not exist.
    :raises GrantBeyondOwn: members are named, and the actor's own membership is limited to locations or has an end.
    :raises UnknownOrganization: the organization is not within the actor's reach.
    :raises Duplicate: the slug is taken, and the actor is not the platform, which may name an existing tenant again.
    :raises OtherTenant: the tenant with this slug has other kinds, or has ended.
    """
    _check(spec)
    if spec.members:
        may_grant_extent(actor, EVERYWHERE)
    with transaction.atomic():
        outcome = _find_or_create(actor, spec, at)
    run = _Run(replace(actor, tenant_id=outcome.tenant.id, membership_id=None), spec, at, outcome)
    failure = _run_steps(run)
    if failure is not None:
        raise failure
    return outcome


def _check(spec: TenantSpec) -> None:
    if spec.chosen_plan not in PLANS:
        raise InvalidFields(errors=[FieldError("plan", "unknown_plan", f"There is no plan {spec.plan!r}.")])
    unknown = [role for member in spec.members for role in member.roles if role not in PLATFORM_ROLES]
    if unknown:
        raise InvalidFields(errors=[FieldError("roles", "unknown_role", f"There is no role {unknown[0]!r}.")])


def _find_or_create(actor: Actor, spec: TenantSpec, at: datetime) -> Provisioned:
    with connection.cursor() as cursor:  # of two first runs at once the second waits, then continues
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('tenant:' || %s, 0))", [spec.slug])
    existing = Tenant.objects.select_for_update(no_key=True).filter(slug=spec.slug).first()
    if existing is not None:
        return _continue(actor, spec, existing)
    organization, made = _organization(actor, spec, at)
    tenant = Tenant(
        organization=organization,
        slug=spec.slug,
        name=spec.name,
        kinds=sorted(set(spec.kinds)),
        plan=spec.chosen_plan,
        created_at=at,
        updated_at=at,
        **spec.fields,
    )
    tenant.save(force_insert=True)
    if made:
        record_event(actor, tenant, OrganizationCreated(), at, about=organization)
    return Provisioned(tenant=tenant, created=True)


def _continue(actor: Actor, spec: TenantSpec, existing: Tenant) -> Provisioned:
    if not is_platform(actor):
        raise Duplicate("A tenant with this slug exists.", field="slug")
    if existing.managed_by_id is not None:
        raise OtherTenant(f"The tenant {spec.slug!r} is a buyer's own supplier, without members.")
    if set(existing.kinds) != set(spec.kinds):
        raise OtherTenant(f"The tenant {spec.slug!r} exists with the kinds {', '.join(existing.kinds)}.")
    if existing.status in (Tenant.Status.OFFBOARDING, Tenant.Status.CLOSED):
        raise OtherTenant(f"The tenant {spec.slug!r} is {existing.status}.")
    return Provisioned(tenant=existing, created=False)


def _organization(actor: Actor, spec: TenantSpec, at: datetime) -> tuple[Organization, bool]:
    if not is_platform(actor):
        wanted = spec.organization_id or actor.organization_id
        found = wanted and Organization.objects.filter(pk=wanted, status=Organization.Status.ACTIVE).first()
        if not found or not Reach.of([actor]).holds_organization(found.id):
            raise UnknownOrganization
        return found, False
    if spec.organization_id is not None:
        found = Organization.objects.filter(pk=spec.organization_id).first()
        if found is None:
            raise UnknownOrganization
        return found, False
    return Organization.objects.get_or_create(
        slug=spec.organization_slug or spec.slug,
        defaults={
            "name": spec.organization_name or spec.name,
            "type": ORGANIZATION_TYPES[spec.kinds[0]],
            "created_at": at,
            "updated_at": at,
        },
    )


def _run_steps(run: _Run) -> Exception | None:
    """Run the steps that are not yet recorded, with the tenant locked; return the error of the step that failed."""
    with tenant_context(run.tenant.id):
        Tenant.objects.select_for_update(no_key=True).values_list("id").get(pk=run.tenant.id)
        done = set(ProvisioningStep.objects.filter(tenant=run.tenant).values_list("name", flat=True))
        for name, step in _STEPS.items():
            if name in done:
                continue
            try:
                with transaction.atomic():
                    result = step(run)
                    ProvisioningStep.objects.create(tenant=run.tenant, name=name, result=result, finished_at=run.at)
            except Exception as error:  # the caller raises it after the steps before it are committed
                return error
            run.outcome.steps.append(name)
    return None


def _create_configuration(run: _Run) -> dict[str, Any]:
    return {"configuration_id": str(configuration.create_default(tenant=run.tenant, at=run.at).id)}


def _grant_plan(run: _Run) -> dict[str, Any]:
    entitlements.grant_plan(tenant=run.tenant, plan=run.spec.chosen_plan, at=run.at, actor=run.actor)
    return {"plan": run.spec.chosen_plan}


def _create_location(run: _Run) -> dict[str, Any]:
    return {"location_id": str(locations.create_default(tenant=run.tenant, at=run.at).id)}


def _check_roles(run: _Run) -> dict[str, Any]:
    missing = set(PLATFORM_ROLES) - set(Role.objects.filter(tenant=None).values_list("code", flat=True))
    if missing:
        raise Conflict(f"The platform's roles are not seeded: {', '.join(sorted(missing))}. Run the migrations.")
    return {}


def _ensure_signing_keys(run: _Run) -> dict[str, Any]:
    return {"kids": ensure_keys()}


def _create_key(run: _Run) -> dict[str, Any]:
    return {"created": create_key(run.tenant.id, at=run.at)}


def _invite(run: _Run) -> dict[str, Any]:
    for member in run.spec.members:
        email, user = member.email.strip().lower(), user_of(member.email)
        if Membership.objects.filter(tenant=run.tenant, user=user, status__in=LIVE).exists():
            continue
        terms = Terms(roles=member.roles)
        membership = open_membership(actor=run.actor, user=user, terms=terms, at=run.at, name=member.name)
        run.outcome.invitations[email] = invitations.link(invitations.issue(membership=membership, at=run.at))
        fact = MembershipInvited(roles=membership.roles)
        ledger.record(
            actor=run.actor, event=fact, resource_id=membership.id, at=run.at, resource_version=membership.version
        )
    return {"invited": len(run.outcome.invitations)}


def _activate(run: _Run) -> dict[str, Any]:
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=run.tenant.id)
    tenant.activate()
    tenant.save_version("status", at=run.at)
    run.outcome.tenant = tenant
    fact = TenantProvisioned(organization_id=str(tenant.organization_id), kinds=list(tenant.kinds))
    record_event(run.actor, tenant, fact, run.at)
    return {}


_STEPS: dict[str, Callable[[_Run], dict[str, Any]]] = {
    "configuration": _create_configuration,
    "entitlements": _grant_plan,
    "location": _create_location,
    "roles": _check_roles,
    "signing_key": _ensure_signing_keys,
    "tenant_key": _create_key,
    "members": _invite,
    "activation": _activate,
}


def platform_actor(*, request_id: str = "") -> Actor:
    """Return the platform as an actor without a tenant, for commands and the admin."""
    return system_actor(UUID(int=0), request_id=request_id)
