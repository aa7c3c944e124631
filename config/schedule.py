"""The periodic tasks of Celery beat and their intervals in seconds.

State lives in PostgreSQL, so a lost or repeated message does no harm. Each message expires before the next one, so that
they do not pile up while no worker runs.
"""

from typing import Any

_EVERY_SECONDS: dict[str, float] = {
    "ledger.relay": 1,
    "webhooks.dispatch": 1,
    "webhooks_replays.carry_on": 5,
    "webhooks.watch_endpoints": 30,
    "organizations.send_mails": 5,
    "organizations.expire": 60,
    "organizations.sweep_credentials": 3600,
    "api.forget_keys": 3600,
    "webhooks_history.keep": 3600,
    "fhir_access.keep": 3600,
    "fhir_exports.carry_on": 5,
    "fhir_exports.sweep": 60,
    "appointments.remind": 60,
    "prescriptions.checkpoint": 3600,
    "prescriptions.sweep": 60,
    "recurring.make_drafts": 900,
}

SCHEDULE: dict[str, dict[str, Any]] = {
    task: {"task": task, "schedule": seconds, "options": {"expires": max(1.0, seconds * 0.9)}}
    for task, seconds in _EVERY_SECONDS.items()
}
