"""Mails to a tenant's administrators about an endpoint that fails, or was disabled by the platform.

They hold no secret and nothing a receiver answered; of the address only the host, because paths are used as passwords.
"""

from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from core import clock
from core.db import tenant_context
from ledger import public as ledger
from organizations import public as organizations

from .models import Endpoint

FAILING: Final = "webhook_endpoint.failing"
DISABLED: Final = "webhook_endpoint.disabled"

_OPENINGS = {
    FAILING: (
        "Webhook endpoint is failing: {host}",
        (
            "The webhook endpoint at {host} has accepted nothing since {since}.\n\n"
            "We go on trying. If it accepts nothing for three days in all, it is disabled; what waits for it is then kept."
        ),
    ),
    "gone": (
        "Webhook endpoint was disabled: {host}",
        (
            "The webhook endpoint at {host} answered 410 Gone, which asks us to send nothing more. We disabled it.\n\n"
            "What waits for it is kept."
        ),
    ),
    DISABLED: (
        "Webhook endpoint was disabled: {host}",
        "The webhook endpoint at {host} has accepted nothing since {since}. We disabled it.\n\nWhat waits for it is kept.",
    ),
}
_STEPS = {
    FAILING: (
        "Mend the receiver. What failed is tried again by itself; one success ends the alarm.",
        "What was given up meanwhile you send again with\n     POST {link}/replay  (only: failed)",
    ),
    DISABLED: (
        "Mend the receiver, or correct the address.",
        (
            'Switch the endpoint on again:\n     PATCH {link}  {{"active": true}}\n'
            "   What is younger than 72 hours is then sent by itself."
        ),
        (
            "What is older, or happened while it was off, you send again with\n"
            "     POST {link}/replay  (only: failed, missing or all)"
        ),
    ),
}


@ledger.after_commit("webhooks.notices", types=[FAILING, DISABLED])
def mail_administrators(event: ledger.Event) -> None:
    """Put down one mail for each administrator of the fact's tenant; told twice, it mails once."""
    with tenant_context(event.tenant_id):
        endpoint = Endpoint.objects.filter(tenant_id=event.tenant_id, id=event.resource_id).first()
        if endpoint is not None:
            organizations.mail_administrators(event.tenant_id, write(event, endpoint), at=clock.now())


def write(event: ledger.Event, endpoint: Endpoint) -> organizations.Notice:
    """Put the fact into words."""
    kind = "gone" if event.data.get("reason") == "gone" else event.type
    subject, opening = _OPENINGS[kind]
    host = urlsplit(endpoint.url).hostname or "an unreadable address"
    link = f"{settings.BASE_URL.rstrip('/')}/v1/webhooks/{endpoint.id}"
    words = {"host": host, "since": _moment(event.data.get("failing_since")), "link": link}
    steps = "\n".join(f"{number}. {step}".format(**words) for number, step in enumerate(_STEPS[event.type], start=1))
    parts = [opening.format(**words), _table(event.data, endpoint), f"What to do\n\n{steps}", _links(link)]
    return organizations.Notice(event.id, subject.format(**words), "\n\n".join(parts) + "\n")


def _table(data: dict[str, Any], endpoint: Endpoint) -> str:
    rows = {
        "Endpoint": " ".join(endpoint.description.split()) or str(endpoint.id),
        "Failures in a row": data.get("failures"),
        "Last answer": _answer(data),
        "Last event": data.get("event_type"),
        "Waiting": f"{data.get('waiting', 0)} deliveries",
    }
    return "\n".join(f"  {name:<18} {value}" for name, value in rows.items() if value not in (None, ""))


def _answer(data: dict[str, Any]) -> str:
    """The status, or why there was none, as the deliveries show it."""
    if data.get("last_status"):
        return f"HTTP {data['last_status']}"
    return f"none ({data['last_error'].replace('_', ' ')})" if data.get("last_error") else ""


def _links(link: str) -> str:
    return f"The endpoint:    {link}\nIts deliveries:  {link}/deliveries\nIts figures:     {link}/stats"


def _moment(text: str | None) -> str:
    if not text:
        return "the time it was set up"
    return f"{datetime.fromisoformat(text).astimezone(UTC):%d %B %Y, %H:%M} UTC"
