"""The one way to write: conditions, locks, preconditions, validation, references, the change and its facts.

Single interactions, batches, transactions, imports and projections all come through `perform`; it is all or nothing.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from itertools import groupby
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import Call, Rows
from organizations.public import policies_call, policies_of

from . import confinement, events, integrity, store
from .conditions import address
from .intentions import Addressed, NamedTwice, Subsetted, TooManyValues, Write, Written
from .outcomes import ERROR, InvalidResource, Issue
from .owners import refuse
from .plans import Plan, plan_of, within
from .reading import WrongType
from .resources import Json
from .smart import UNNARROWED, access_of
from .store import Name, Prepared, Version
from .store.models import Method
from .validation import validate, vital_signs

MOST_ENTRIES = 20_000
SUBSETTED = ("http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "SUBSETTED")
_VERBS = {Method.PUT: events.UPDATED, Method.PATCH: events.UPDATED, Method.DELETE: events.DELETED}


@needs_transaction
def perform(actor: Actor, writes: Sequence[Write], *, at: datetime) -> list[Written]:
    """Carry out the writes, all or nothing; the answers stand in their order.

    :raises core.errors.PlatformError: one of them is refused; the caller's transaction must then end.
    """
    addressed = address(actor, writes)
    return gathered(addressed, carry_out(actor, addressed, at=at))


def gathered(addressed: Sequence[Addressed], done: Sequence[Written]) -> list[Written]:
    """What became of each write, where some had several addresses, which stand one after the other."""
    found = []
    pairs = zip(addressed, done, strict=True)
    for _, group in groupby(pairs, key=lambda pair: id(pair[0].write)):
        first, *others = (one for _, one in group)
        ended = (*first.ended, *(version for one in others for version in one.ended))
        found.append(Written(first.status, None, changed=True, ended=ended) if others else first)
    return found


@needs_transaction
def carry_out(actor: Actor, addressed: Sequence[Addressed], *, at: datetime) -> list[Written]:
    """The second half of `perform`, for a transaction that must know the ids before its references can be resolved.

    Each address has an answer; `gathered` makes them those of the writes.
    """
    pending = decide(actor, addressed, at=at)
    versions, rows = store.write_along(actor.tenant_id, pending.prepared, pending.along)
    return pending.done(versions, rows)


@needs_transaction
def decide(
    actor: Actor, addressed: Sequence[Addressed], *, at: datetime, held: Mapping[Name, Version] | None = None
) -> "Pending":
    """Decide what the writes come to, for a caller who sends their statements in a trip of his own.

    `held` are current versions that the transaction has locked already.
    """
    plans, current = _planned(actor, addressed, held or {})
    if actor.subject.patient:
        for plan in plans:
            _check_confined(actor.subject.patient, plan)
    prepared = store.prepare([plan.change for plan in plans if plan.change], at=at)
    _check_sizes(plans, prepared)
    checks = _Checks.of(actor, plans, prepared)
    facts = events.statements(actor, [_coming(plan) for plan in plans if plan.change], at)
    return Pending(actor.tenant_id, plans, current, prepared, checks, facts)


@needs_transaction
def rehearse(actor: Actor, addressed: Sequence[Addressed], *, types: Container[str], at: datetime) -> None:
    """Write what is of these types, without facts and wherever its references lead, for a caller who takes it back.

    :raises core.errors.PlatformError: one of all that are addressed would be refused, whatever references there are.
    """
    plans, _ = _planned(actor, addressed, {})
    changes = [plan.change for plan in plans if plan.change and plan.of.write.type in types]
    store.write(actor.tenant_id, changes, at=at)


def _planned(
    actor: Actor, addressed: Sequence[Addressed], held: Mapping[Name, Version]
) -> tuple[list[Plan], dict[Name, Version]]:
    """What the writes come to, each valid for itself, and the current versions, held."""
    _check_once(addressed)
    known = [one for one in addressed if one.fhir_id and not one.fresh and one.name not in held]
    current = {**held, **_locked(actor, known)}
    plans = [plan_of(one, current.get(one.name)) for one in addressed]
    if actor.subject.patient:
        confinement.check_ids(addressed, current)
    refuse(actor.tenant_id, [(plan.of.name, plan.of.write.place) for plan in plans if _could_be_kept(plan)])
    _check_resources(plans)
    return plans, current


def _check_sizes(plans: Sequence[Plan], prepared: Sequence[Prepared]) -> None:
    """Bound what one resource costs in the index: a name is three rows, a reference one.

    :raises TooManyValues: a resource has more rows than that.
    """
    changing = (plan for plan in plans if plan.change)
    for plan, item in zip(changing, prepared, strict=True):
        if item.size > MOST_ENTRIES:
            text = f"{item.size} rows of the index are needed; {MOST_ENTRIES} are allowed. Split the resource."
            raise TooManyValues(text, expression=plan.of.write.place or plan.of.write.type, issue_type="too-costly")


def _could_be_kept(plan: Plan) -> bool:
    """Tell whether an app of the platform may keep what is to be changed, and it is not that app which writes."""
    return plan.change is not None and not plan.of.fresh and not plan.of.write.projected


def _locked(actor: Actor, known: Sequence[Addressed]) -> dict[Name, Version]:
    """The current versions, held; of a token that is bound to a patient, those that it may see."""
    ending = [one.name for one in known if one.write.method is Method.DELETE]
    current = store.locked(actor.tenant_id, [one.name for one in known], deleting=ending)
    if actor.subject.patient:
        current = confinement.seen(actor.tenant_id, actor.subject.patient, current)
    return current


def _check_confined(patient: str, plan: Plan) -> None:
    if plan.change:
        confinement.check_change(patient, plan.of, plan.change.before, plan.change.resource)


def _check_once(addressed: Sequence[Addressed]) -> None:
    seen: set[Name] = set()
    for one in addressed:
        if not one.fhir_id or (one.write.method is Method.POST and one.matched):
            continue
        if one.name in seen:
            raise NamedTwice(expression=one.write.place, issue_type="duplicate")
        seen.add(one.name)


def _check_resources(plans: Sequence[Plan]) -> None:
    """Validate all that shall be stored, but for what is known to be valid, and tell every broken rule of all of them.

    :raises InvalidResource: rules are broken.
    :raises WrongType: a resource is of another type than the write names.
    :raises Subsetted: a resource is only a part of itself.
    """
    found: list[Issue] = []
    for plan in plans:
        resource = plan.change.resource if plan.change else None
        if resource is None or plan.of.write.validated:
            continue
        place = plan.of.write.place
        if resource.get("resourceType") != plan.of.write.type:
            raise WrongType(f"A {plan.of.write.type} is expected.", expression=place)
        if is_subsetted(resource):
            raise Subsetted(expression=within(place, f"{plan.of.write.type}.meta.tag"), issue_type="business-rule")
        found.extend(_placed(issue, place) for issue in validate(resource) if issue.severity in (ERROR, "fatal"))
    if found:
        raise InvalidResource(found)


def is_subsetted(resource: Json) -> bool:
    """Tell whether a resource is marked as a part of itself. Source: R4 search.html#elements."""
    meta = resource.get("meta")
    tags = meta.get("tag") if isinstance(meta, dict) else None
    if not isinstance(tags, list):
        return False
    return any(isinstance(tag, dict) and (tag.get("system"), tag.get("code")) == SUBSETTED for tag in tags)


def _placed(issue: Issue, place: str) -> Issue:
    if not place:
        return issue
    return Issue(issue.code, issue.diagnostics, within(place, issue.expression), issue.details, issue.severity)


@dataclass(frozen=True, slots=True)
class _Checks:
    """What must hold after the change: its statements travel with it."""

    calls: tuple[Call, ...]
    wanted: Mapping[integrity.Target, Sequence[integrity.Referrer]]
    deleted: Mapping[Name, str]
    profiled: Mapping[Name, Sequence[Issue]]  # what breaks the vital-signs profiles
    named: bool  # the caller may be told who refers to what he deletes

    @classmethod
    def of(cls, actor: Actor, plans: Sequence[Plan], prepared: Sequence[Prepared]) -> "_Checks":
        """The checks of these plans and what was prepared of them; none where nothing refers and nothing is deleted."""
        changing = [plan for plan in plans if plan.change]
        written = {plan.of.name for plan, item in zip(changing, prepared, strict=True) if item.body is not None}
        wanted: dict[integrity.Target, list[integrity.Referrer]] = {}
        for plan, item in zip(changing, prepared, strict=True):
            places = cache(partial(_places, plan))
            for target in _referred(plan, item):
                if target[:2] not in written:
                    wanted.setdefault(target, []).append(places)
        deleted = {plan.of.name: plan.of.write.place for plan in changing if plan.of.name not in written}
        profiled = {plan.of.name: issues for plan in changing if (issues := _profile_issues(plan))}
        tenant_id, patient = actor.tenant_id, actor.subject.patient
        calls = [policies_call(tenant_id)] if wanted or deleted or profiled else []
        if wanted:
            calls.append(integrity.present_call(tenant_id, wanted, patient=patient))
        if deleted:
            calls.append(integrity.referrers_call(tenant_id, deleted))
        named = actor.may("healthcare.read") and access_of(actor) == UNNARROWED
        return cls(tuple(calls), wanted, deleted, profiled, named)

    def read(self, rows: Sequence[Rows]) -> Mapping[Name, Sequence[Issue]]:
        """Read the answers; return what the tenant wants to be warned of.

        :raises InvalidResource, ReferenceNotFound, StillReferenced: as the tenant's policies demand.
        """
        if not rows:
            return {}
        policies = policies_of(rows[0])
        if self.profiled and policies["fhir_vital_signs"] == "check":
            raise InvalidResource([issue for issues in self.profiled.values() for issue in issues])
        if policies["fhir_reference_integrity"] != "none":
            self._check_references(rows)
        if policies["fhir_vital_signs"] != "warn":
            return {}
        return {name: [issue.warning() for issue in issues] for name, issues in self.profiled.items()}

    def _check_references(self, rows: Sequence[Rows]) -> None:
        if self.wanted:
            integrity.check_present(rows[1], self.wanted)
        if self.deleted:
            integrity.check_unreferenced(rows[-1], next(iter(self.deleted.values())), named=self.named)


@dataclass(frozen=True, slots=True)
class Pending:
    """Writes that are decided on: the statements of `calls` carry them out, `written` takes their rows."""

    tenant_id: UUID
    plans: Sequence[Plan]
    current: Mapping[Name, Version]
    prepared: Sequence[Prepared]
    checks: _Checks
    facts: Sequence[Call]

    @property
    def calls(self) -> list[Call]:
        """The statements, for one trip and in their order, with the tenant bound."""
        return [*store.write_calls(self.tenant_id, self.prepared), *self.along]

    @property
    def along(self) -> list[Call]:
        """What follows the versions: checks and facts."""
        return [*self.checks.calls, *self.facts]

    def written(self, rows: Sequence[Rows]) -> list[Written]:
        """Return what became of each write.

        :raises InvalidResource, ReferenceNotFound, StillReferenced: as the tenant's policies demand.
        """
        versions = len(rows) - len(self.along)
        return self.done(store.versions_of(self.prepared, rows[:versions]), rows[versions:])

    def done(self, versions: Sequence[Version], along: Sequence[Rows]) -> list[Written]:
        """As `written`, of versions that are written and the rows of `along`."""
        warnings = self.checks.read(along[: len(self.checks.calls)])
        by_name = {version.name: version for version in versions}
        return [_written(plan, by_name, self.current, warnings.get(plan.of.name, ())) for plan in self.plans]


def _profile_issues(plan: Plan) -> list[Issue]:
    """What breaks the vital-signs profiles that a resource is held to."""
    resource = plan.change.resource if plan.change else None
    profiles = vital_signs.profiles_of(resource) if resource else []
    if resource is None or not profiles:
        return []
    return [_placed(issue, plan.of.write.place) for issue in vital_signs.judge(resource, profiles)]


def _referred(plan: Plan, item: Prepared) -> list[integrity.Target]:
    """What must exist for a resource to refer to it; what a validated one referred to before is held by that, locked, version."""
    found, before = integrity.referred(item.body or b""), item.change.before
    if not plan.of.write.validated or before is None:
        return found
    held = set(integrity.referred(before.body or b""))
    return [target for target in found if target not in held]


def _places(plan: Plan) -> dict[integrity.Target, str]:
    """Where a resource refers to others."""
    assert plan.change is not None
    assert plan.change.resource is not None
    found = integrity.references(plan.change.resource)
    return {target: within(plan.of.write.place, expression) for target, expression in found.items()}


def _coming(plan: Plan) -> tuple[str, Name, int]:
    """What is told of a change: the verb, the name and the version that it makes."""
    assert plan.change is not None
    before = plan.change.before
    verb = events.CREATED if plan.status == 201 else _VERBS[plan.of.write.method]
    return verb, plan.of.name, (before.version if before else 0) + 1


def _written(
    plan: Plan, by_name: Mapping[Name, Version], current: Mapping[Name, Version], warnings: Sequence[Issue]
) -> Written:
    name = plan.of.name
    ends = plan.of.matched and plan.change is not None and plan.change.resource is None
    ended = (current[name],) if ends else ()
    version, changed = by_name.get(name) or current.get(name), plan.change is not None
    return Written(plan.status, version, changed=changed, ended=ended, warnings=tuple(warnings))


__all__ = [
    "Addressed",
    "Pending",
    "Write",
    "Written",
    "address",
    "carry_out",
    "decide",
    "gathered",
    "is_subsetted",
    "perform",
    "rehearse",
]
