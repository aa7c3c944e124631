"""One prescription told step by step, out of all that is kept of it: history, runs, routes, dispensations, record, deliveries."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.urls import reverse

from fhir_api.public import past_versions
from prescriptions.dispensing.models import Dispensation, DispensationLine
from prescriptions.lifecycle.chain_models import AuditEntry, AuditOrigin
from prescriptions.lifecycle.models import Prescription, PrescriptionItem, Route
from prescriptions.states import DispensationStatus, RouteState
from prescriptions.validation.models import ValidationRun

MOST_ENTRIES: Final = 300
MOST_RUNS: Final = 100

GOOD, BAD, WAITING, NEUTRAL = "good", "bad", "waiting", "neutral"
_BAD_ACTIONS: Final = frozenset(
    {"validation_blocked", "rejected", "returned", "cancelled", "expired", "dispense_reversed", "override_recorded"}
)
_GOOD_ACTIONS: Final = frozenset({"validated", "signed", "acknowledged", "dispensed"})
_ROUTE_TONES: Final = {
    RouteState.ACKNOWLEDGED.value: GOOD,
    RouteState.QUEUED.value: WAITING,
    RouteState.SENT.value: WAITING,
    RouteState.REJECTED.value: BAD,
    RouteState.RETURNED.value: BAD,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the timeline; `source` says where it is kept, `page` is the address of the page that tells more."""

    at: datetime
    source: str
    title: str
    lines: tuple[str, ...] = ()
    tone: str = NEUTRAL
    page: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """The steps in their order; `is_cut` tells that older ones of some source are left out."""

    steps: Sequence[Step]
    is_cut: bool


def story_of(row: Prescription) -> Story:
    """Read what the bound owner keeps of a prescription."""
    entries = list(_of(AuditEntry, row).order_by("-sequence")[:MOST_ENTRIES])[::-1]
    runs = list(_of(ValidationRun, row).order_by("-at", "-id")[:MOST_RUNS])
    items = list(_of(PrescriptionItem, row).order_by("line", "id"))
    dispensations = list(_of(Dispensation, row).order_by("created_at", "id"))
    lines = list(_mine(DispensationLine, row).filter(dispensation__in=[one.pk for one in dispensations]))
    names = [
        *(("MedicationRequest", str(one.pk)) for one in items),
        *(("MedicationDispense", str(one.pk)) for one in lines),
    ]
    steps = [
        *_entry_steps(entries, row),
        *map(_run_step, runs),
        *_route_steps(_of(Route, row).order_by("routed_at", "id")),
        *_dispensation_steps(dispensations, lines, {one.pk: one.line for one in items}),
        *_version_steps(row.tenant_id, names),
    ]
    is_cut = len(entries) == MOST_ENTRIES or len(runs) == MOST_RUNS
    return Story(in_order(steps), is_cut)


def in_order(steps: Iterable[Step]) -> list[Step]:
    """Sort steps by time; those of one instant keep the order of their sources."""
    return sorted(steps, key=lambda step: step.at)


def _of(model: type[Any], row: Prescription) -> Any:
    return _mine(model, row).filter(prescription_id=row.pk)


def _mine(model: type[Any], row: Prescription) -> Any:
    return model.objects.filter(tenant_id=row.tenant_id)


def _entry_steps(entries: Sequence[AuditEntry], row: Prescription) -> Iterator[Step]:
    origins = dict(_mine(AuditOrigin, row).filter(pk__in=[one.pk for one in entries]).values_list("pk", "display"))
    for one in entries:
        moved = f"{one.from_status} → {one.to_status}" if one.from_status != one.to_status else one.to_status
        details = ", ".join(f"{name} {value}" for name, value in one.details.items() if value and name != "digest")
        told = (f"{moved}; by {_actor(one, origins.get(one.pk, ''))}", *([details] if details else ()))
        tone = BAD if one.action in _BAD_ACTIONS else GOOD if one.action in _GOOD_ACTIONS else NEUTRAL
        yield Step(one.occurred_at, "history", f"{one.sequence}. {words(one.action)}", told, tone)


def _actor(entry: AuditEntry, display: str) -> str:
    held = entry.actor
    if held["tenant_id"] != str(entry.tenant_id):
        return "the pharmacy"
    return display or f"{held['type']} {held['id']}"


def _run_step(run: ValidationRun) -> Step:
    found = [issue for issue in run.issues if issue["evaluated"]]
    without = ", ".join(sorted({issue["code"] for issue in run.issues if not issue["evaluated"]}))
    told = [f"engine {run.engine_version}, {run.duration_ms} ms", *map(_issue_words, found)]
    told += [f"not evaluated: {without}"] if without else []
    tone = BAD if run.outcome == "blocked" else GOOD
    return Step(run.at, "validation", f"Validation: {words(run.outcome)}", tuple(told), tone)


def _issue_words(issue: dict[str, Any]) -> str:
    held, lines = issue.get("override"), ", ".join(map(str, issue["lines"]))
    where = f" (line {lines})" if lines else ""
    if held:
        state = f"overridden, {held['reason_code']}" if held["reason_code"] else "acknowledged"
    else:
        state = "open" if issue["needs"] != "none" or issue["severity"] == "blocking" else "shown"
    return f"{issue['severity']} {issue['code']}{where}: {state}"


def _route_steps(routes: Iterable[Route]) -> Iterator[Step]:
    for one in routes:
        told = [f"state {one.state}" + (f", {words(one.progress)}" if one.progress else "")]
        for title, moment in (
            ("acknowledged", one.acknowledged_at),
            ("ready", one.ready_at),
            ("ended", one.returned_at),
        ):
            if moment:
                told.append(f"{title} {moment:%Y-%m-%d %H:%M:%S}")
        if one.return_reason_code:
            told.append(f"reason {one.return_reason_code}")
        tone = _ROUTE_TONES.get(one.state, NEUTRAL)
        yield Step(one.routed_at, "route", f"Route to {one.pharmacy_name}", tuple(told), tone)


def _dispensation_steps(
    dispensations: Sequence[Dispensation], lines: Sequence[DispensationLine], numbers: dict[UUID, int]
) -> Iterator[Step]:
    for one in dispensations:
        mine = sorted(
            (line for line in lines if line.dispensation_id == one.pk), key=lambda line: numbers[line.item_id]
        )
        told = tuple(_line_words(line, numbers[line.item_id]) for line in mine)
        part = "part" if one.is_partial else "all that remained"
        yield Step(one.handed_over_at, "dispensing", f"Dispensed, fill {one.fill_number}: {part}", told, GOOD)
        if one.status == DispensationStatus.REVERSED and one.reversed_at:
            reason = (f"reason {one.reversal_reason_code}",)
            yield Step(one.reversed_at, "dispensing", f"Dispensation of fill {one.fill_number} reversed", reason, BAD)


def _line_words(line: DispensationLine, number: int) -> str:
    if line.quantity is None:
        return f"line {number}: not dispensed, {line.not_dispensed_reason}"
    lot = f", lot {line.lot_number}" if line.lot_number else ""
    changed = ", substituted" if (line.substitution or {}).get("was_substituted") else ""
    return f"line {number}: {line.quantity.normalize():f} {line.unit}{lot}{changed}"


def _version_steps(tenant_id: UUID, names: Sequence[tuple[str, str]]) -> Iterator[Step]:
    for one in past_versions(tenant_id, names):
        page = reverse("admin:fhir_api_resource_version", args=[one.row, one.version])
        verb = "deleted" if one.is_deletion else "written"
        yield Step(one.at, "record", f"{one.type}, version {one.version} {verb}", (one.id,), page=page)


def words(code: str) -> str:
    """Write a code as words."""
    return code.replace("_", " ")
