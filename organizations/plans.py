"""The plans of tenants, as data: features, quotas, and rate limits that differ from the default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from core.errors import NotFound


class Period(StrEnum):
    """When a quota's count starts again from zero; days and months are in UTC."""

    NONE = "none"
    MONTH = "month"
    DAY = "day"


class Enforcement(StrEnum):
    """What happens at the limit: `hard` refuses, `soft` counts on and reports, `warn` counts on and only warns."""

    HARD = "hard"
    SOFT = "soft"
    WARN = "warn"


class UnknownPlan(NotFound):
    """The platform has no plan of this name."""

    code = "unknown_plan"
    title = "There is no such plan."


@dataclass(frozen=True, slots=True)
class QuotaTerms:
    """One quota of a plan; `limit` None is unlimited but still counted."""

    limit: int | None
    period: Period = Period.NONE
    enforcement: Enforcement = Enforcement.HARD
    warn_at: Decimal = Decimal("0.80")


@dataclass(frozen=True, slots=True)
class Plan:
    """The terms of a plan. `rate_limits` maps a family of `conventions.md` to requests per minute and credential."""

    name: str
    features: frozenset[str]
    quotas: Mapping[str, QuotaTerms]
    rate_limits: Mapping[str, int] = field(default_factory=dict)


FEATURES = (
    "analytics",
    "appointments",
    "bulk_export",
    "fhir",
    "marketplace",
    "prescriptions",
    "procurement",
    "webhooks",
)

USERS = "users"
LOCATIONS = "locations"
API_KEYS = "api_keys"
WEBHOOK_ENDPOINTS = "webhook_endpoints"
PRESCRIPTIONS_PER_MONTH = "prescriptions_per_month"
STORAGE_BYTES = "storage_bytes"
EXPORTS_PER_DAY = "exports_per_day"

QUOTA_KEYS = (
    USERS,
    LOCATIONS,
    API_KEYS,
    WEBHOOK_ENDPOINTS,
    PRESCRIPTIONS_PER_MONTH,
    STORAGE_BYTES,
    EXPORTS_PER_DAY,
)

# What is counted by day or month is not given back by what ends later.
PERIODIC = frozenset((PRESCRIPTIONS_PER_MONTH, EXPORTS_PER_DAY))

GIBIBYTE = 1024**3

PLANS: Mapping[str, Plan] = {
    "free": Plan(
        name="free",
        features=frozenset(FEATURES) - {"analytics", "bulk_export", "fhir"},
        quotas={
            USERS: QuotaTerms(10),
            LOCATIONS: QuotaTerms(10),
            API_KEYS: QuotaTerms(5),
            WEBHOOK_ENDPOINTS: QuotaTerms(100),
            PRESCRIPTIONS_PER_MONTH: QuotaTerms(100, Period.MONTH),
            STORAGE_BYTES: QuotaTerms(GIBIBYTE),
            EXPORTS_PER_DAY: QuotaTerms(1, Period.DAY),
        },
    ),
    "standard": Plan(
        name="standard",
        features=frozenset(FEATURES),
        quotas={
            USERS: QuotaTerms(1_000),
            LOCATIONS: QuotaTerms(1_000),
            API_KEYS: QuotaTerms(100),
            WEBHOOK_ENDPOINTS: QuotaTerms(100),
            PRESCRIPTIONS_PER_MONTH: QuotaTerms(50_000, Period.MONTH, Enforcement.SOFT),
            STORAGE_BYTES: QuotaTerms(100 * GIBIBYTE),
            EXPORTS_PER_DAY: QuotaTerms(10, Period.DAY),
        },
    ),
    "enterprise": Plan(
        name="enterprise",
        features=frozenset(FEATURES),
        quotas={
            USERS: QuotaTerms(None),
            LOCATIONS: QuotaTerms(None),
            API_KEYS: QuotaTerms(1_000),
            WEBHOOK_ENDPOINTS: QuotaTerms(100),
            PRESCRIPTIONS_PER_MONTH: QuotaTerms(None, Period.MONTH),
            STORAGE_BYTES: QuotaTerms(None),
            EXPORTS_PER_DAY: QuotaTerms(100, Period.DAY),
        },
    ),
    "sandbox": Plan(
        name="sandbox",
        features=frozenset(FEATURES),
        quotas={
            USERS: QuotaTerms(50),
            LOCATIONS: QuotaTerms(100),
            API_KEYS: QuotaTerms(20),
            WEBHOOK_ENDPOINTS: QuotaTerms(100),
            PRESCRIPTIONS_PER_MONTH: QuotaTerms(1_000, Period.MONTH),
            STORAGE_BYTES: QuotaTerms(GIBIBYTE),
            EXPORTS_PER_DAY: QuotaTerms(5, Period.DAY),
        },
    ),
}

DEFAULT_PLAN = "standard"
SANDBOX_PLAN = "sandbox"
FALLBACK_PLAN = "free"


def plan_named(name: str) -> Plan:
    """Return the plan of this name.

    :raises UnknownPlan: there is none.
    """
    try:
        return PLANS[name]
    except KeyError:
        raise UnknownPlan(f"There is no plan {name!r}.", allowed=sorted(PLANS)) from None


def is_within(plan: Plan, other: Plan) -> bool:
    """Tell whether a plan gives nothing that another does not give: no feature, no higher limit, no higher rate."""
    return (
        plan.features <= other.features
        and all(_fits(terms, other.quotas.get(key)) for key, terms in plan.quotas.items())
        and all(rate <= other.rate_limits.get(family, 0) for family, rate in plan.rate_limits.items())
    )


def _fits(terms: QuotaTerms, other: QuotaTerms | None) -> bool:
    if other is None or other.limit is None or other.enforcement is not Enforcement.HARD:
        return True
    return terms.limit is not None and terms.limit <= other.limit
