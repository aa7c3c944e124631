"""The periodic tasks of Celery beat and their intervals in seconds.

State lives in PostgreSQL, so a lost or repeated message does no harm. Messages expire, so that they do not pile up while no
worker runs: a rare one before the next, a frequent one after a minute, so that a worker that gets to it late still finds it.
"""

from typing import Any

from core.jobs import RING_SECONDS

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
    "appointments.remind": 5,
    "procurement.tell_approvals": 60,
    "prescriptions.checkpoint": 3600,
    "prescriptions.sweep": 5,
    "recurring.make_drafts": 5,
    "suppliers.allocate_backorders": 60,
    "suppliers.carry_reports_on": 5,
    "suppliers.expire_agreements": 60,
    "suppliers.expire_offers": 60,
    "suppliers.expire_reservations": 5,
    "suppliers.fold_figures": 300,
    "suppliers.forget_closed": 3600,
    "suppliers.keep_movements": 3600,
    "suppliers.keep_notifications": 3600,
    "suppliers.rate_suppliers": 600,
    "suppliers.review_alerts": 3600,
    "suppliers.send_notification_mails": 30,
    "suppliers.tell_expiries": 3600,
    "suppliers.refresh_availability": 300,
    "suppliers.refresh_shelf_life": 1800,
    "suppliers.scan_files": 5,
    "suppliers.sweep_files": 60,
    "suppliers.sweep_reports": 60,
    "suppliers.tell_levels": 1,
    "suppliers.tell_licenses": 3600,
    "suppliers.tell_overdue_orders": 60,
    "suppliers.tell_promotions": 60,
    "suppliers.walk_recalls": 1,
}

# What works for seconds over the rows of many tenants has a queue and processes of its own: mails and what follows a commit
# do not wait for it. Each of these works for a slice of time and stands behind the others of the queue again (`core.rounds`).
BULK = (
    "api.forget_keys",
    "appointments.remind",
    "fhir_access.keep",
    "fhir_exports.*",
    "organizations.sweep_credentials",
    "prescriptions.*",
    "procurement.*",
    "recurring.make_drafts",
    "suppliers.*",
    "webhooks_history.keep",
    "webhooks_replays.carry_on",
)
ROUTES = {"webhooks.*": {"queue": "webhooks"}} | {task: {"queue": "bulk"} for task in BULK}

SCHEDULE: dict[str, dict[str, Any]] = {
    task: {"task": task, "schedule": seconds, "options": {"expires": max(float(RING_SECONDS), seconds * 0.9)}}
    for task, seconds in _EVERY_SECONDS.items()
}
