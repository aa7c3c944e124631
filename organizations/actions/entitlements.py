"""Grants of plans: a tenant's features, rate limits and quotas, and the copies that the authenticator reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from core.actor import Actor, system_actor
from core.db import needs_transaction, tenant_context
from core.errors import Conflict
from ledger import public as ledger
from organizations import events, plans
from organizations.models import Entitlement, Quota, Tenant
from organizations.periods import period_start
from organizations.plans import Enforcement, Plan, QuotaTerms
from organizations.queries import configuration

_BATCH = 200


class PlanBelowUsage(Conflict):
    """A quota of the new plan is lower than what the tenant already uses."""

    code = "plan_below_usage"
    title = "The tenant uses more than the plan allows."


@dataclass(frozen=True, slots=True)
class Terms:
    """One tenant's exceptions from its plan, and the end of the entitlement.

    `limits` replaces the limits of quotas (None: unlimited), `rate_limits` the requests per minute of a family.
    `keeps_usage` raises a hard limit to the present use instead of refusing the plan.
    """

    source: str = "plan"
    valid_until: datetime | None = None
    added_features: frozenset[str] = frozenset()
    limits: Mapping[str, int | None] = field(default_factory=dict)
    rate_limits: Mapping[str, int] = field(default_factory=dict)
    keeps_usage: bool = False


@needs_transaction
def grant_plan(
    *, tenant: Tenant, plan: str, at: datetime, terms: Terms | None = None, actor: Actor | None = None
) -> Entitlement:
    """Entitle a tenant to a plan; granting the same plan and terms again changes nothing.

    :raises UnknownPlan: no plan has this name.
    :raises PlanBelowUsage: a hard limit would be below the present use, and `terms.keeps_usage` is not set.
    """
    chosen, own = plans.plan_named(plan), terms or Terms()
    who = replace(actor, tenant_id=tenant.id) if actor else system_actor(tenant.id)
    with tenant_context(tenant.id):
        row, changed = _write_entitlement(tenant, chosen, own, at)
        changed = _write_quotas(tenant, chosen, own, at) or changed
        copy_features(tenant.id)
        if changed:
            fact = events.EntitlementChanged(plan=plan, features=list(row.features), source=row.source)
            ledger.record(actor=who, event=fact, resource_id=row.id, at=at, resource_version=row.version)
    return row


def end_expired(*, at: datetime) -> int:
    """Move tenants whose entitlement has ended to the fallback plan, each in its own transaction.

    Present use is kept; a quota that is exceeded allows nothing more. Returns the number of tenants.
    """
    due = Tenant.objects.filter(entitled_until__lte=at)
    ended = 0
    for tenant_id in list(due.order_by("id").values_list("id", flat=True)[:_BATCH]):
        with transaction.atomic():
            tenant = due.select_for_update(no_key=True, skip_locked=True).filter(id=tenant_id).first()
            if tenant is not None:
                terms = Terms(source="expired", keeps_usage=True)
                grant_plan(tenant=tenant, plan=plans.FALLBACK_PLAN, at=at, terms=terms)
                ended += 1
    return ended


@needs_transaction
def copy_features(tenant_id: Any) -> None:
    """Copy features, rate limits and plan of the bound tenant to its own row; modules switched off are left out.

    The authenticator reads the copy in the statement that proves the membership, before a tenant is bound. A tenant
    without an entitlement is left as it is.
    """
    entitled = Entitlement.objects.filter(tenant_id=tenant_id).first()
    if entitled is None:
        return
    values = configuration.effective(tenant_id).values
    Tenant.objects.filter(id=tenant_id).update(
        features=sorted(name for name, on in values["modules"].items() if on),
        reads_while_suspended=values["policies"]["reads_while_suspended"],
        rate_limits=entitled.rate_limits,
        entitled_until=entitled.valid_until,
        plan=entitled.plan,
    )


def _write_entitlement(tenant: Tenant, plan: Plan, terms: Terms, at: datetime) -> tuple[Entitlement, bool]:
    wanted = {
        "plan": plan.name,
        "features": sorted(plan.features | terms.added_features),
        "rate_limits": {**plan.rate_limits, **terms.rate_limits},
        "valid_until": terms.valid_until,
        "source": terms.source,
    }
    row, created = Entitlement.objects.select_for_update().get_or_create(
        tenant_id=tenant.id, defaults={**wanted, "valid_from": at}
    )
    if created or all(getattr(row, name) == value for name, value in wanted.items()):
        return row, created
    for name, value in wanted.items():
        setattr(row, name, value)
    row.valid_from = at
    row.save_version(*wanted, "valid_from", at=at)
    return row, True


def _write_quotas(tenant: Tenant, plan: Plan, terms: Terms, at: datetime) -> bool:
    present = {row.key: row for row in Quota.objects.select_for_update().filter(tenant_id=tenant.id).order_by("id")}
    changed, made = False, []
    for key, found in plan.quotas.items():
        limit = terms.limits.get(key, found.limit)
        if key not in present:
            began = period_start(found.period, at) or at
            made.append(Quota(tenant_id=tenant.id, key=key, period_started=began, **_columns(found, limit)))
        else:
            changed = _change_quota(present[key], found, limit, terms.keeps_usage, at) or changed
    Quota.objects.bulk_create(made)
    return changed or bool(made)


def _change_quota(row: Quota, found: QuotaTerms, limit: int | None, keeps_usage: bool, at: datetime) -> bool:
    start = period_start(found.period, at)
    anew = start is not None and (row.period != found.period or row.period_started < start)
    used = 0 if anew else row.used
    if found.enforcement == Enforcement.HARD and limit is not None and used > limit:
        if not keeps_usage:
            raise PlanBelowUsage(f"{row.key}: {used} in use, {limit} allowed.", quota=row.key, used=used, limit=limit)
        limit = used
    wanted = _columns(found, limit) | {"used": used}
    if all(getattr(row, name) == value for name, value in wanted.items()):
        return False
    for name, value in wanted.items():
        setattr(row, name, value)
    row.period_started = start if start is not None and anew else row.period_started
    row.save_version(*wanted, "period_started", at=at)
    return True


def _columns(found: QuotaTerms, limit: int | None) -> dict[str, Any]:
    return {"limit": limit, "period": found.period, "enforcement": found.enforcement, "warn_at": found.warn_at}
