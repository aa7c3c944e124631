"""The page of stuck work: how much of each kind there is, the first of it, and links to all of it."""

from typing import Any, Final

from django.db.models import Count
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from core.clock import now
from prescriptions.lifecycle.models import Prescription
from prescriptions.recurring.models import RecurringTreatment
from prescriptions.states import TreatmentStatus

from .looks import chosen_tenant, note_look
from .stuck import TROUBLES, Moment, Trouble, moment_of

MOST_SHOWN: Final = 10
_LISTS: Final = {
    Prescription: "admin:prescriptions_prescription",
    RecurringTreatment: "admin:prescriptions_recurringtreatment",
}


def show(request: HttpRequest, context: dict[str, Any]) -> TemplateResponse:
    """Answer the page; whose work is shown is recorded."""
    chosen = chosen_tenant(request)
    moment = moment_of(chosen.tenant_id, now())
    cards = [_card(trouble, moment) for trouble in TROUBLES]
    shown = [one["row"] for card in cards for one in card["rows"]]
    note_look(request, [row.patient_id for row in shown], count=len(shown), parameters=["stuck"])
    context |= {
        "title": "Stuck work",
        "cards": cards,
        "reasons": _pause_reasons(moment),
        "at": moment.at,
        "expiring_days": moment.expiring_days,
    }
    return TemplateResponse(request, "prescriptions/stuck.html", context)


def _card(trouble: Trouble, moment: Moment) -> dict[str, Any]:
    rows, base = trouble.rows(moment), _LISTS[trouble.model]
    first = rows.order_by("created_at", "id")[:MOST_SHOWN]
    return {
        "name": trouble.name,
        "title": trouble.title,
        "count": rows.count(),
        "link": f"{reverse(f'{base}_changelist')}?stuck={trouble.name}",
        "rows": [{"row": row, "link": reverse(f"{base}_change", args=[row.pk]), "words": _words(row)} for row in first],
    }


def _words(row: Any) -> str:
    """What is shown of a row: nothing of the patient."""
    if isinstance(row, Prescription):
        state = f", {row.route_state}" if row.route_state else ""
        return f"{row.number}: {row.status}{state}, made {row.created_at:%Y-%m-%d}"
    due = f", due {row.next_due_on:%Y-%m-%d}" if row.next_due_on else ""
    reason = f", {row.pause_reason.replace('_', ' ')}" if row.pause_reason else ""
    return f"{row}: {row.status}{reason}{due}"


def _pause_reasons(moment: Moment) -> list[tuple[str, int]]:
    rows = RecurringTreatment.objects.filter(tenant_id=moment.tenant_id, status=TreatmentStatus.PAUSED)
    return list(rows.values_list("pause_reason").annotate(number=Count("id")).order_by("-number", "pause_reason"))
