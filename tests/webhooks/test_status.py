"""The command that says how the deliveries stand."""

import json
from datetime import timedelta
from io import StringIO

from django.core.management import call_command

from core.clock import now
from core.db import tenant_context
from tests.webhooks.history import past
from tests.webhooks.scenes import scene
from webhooks.backlogs import backlog
from webhooks.history.upkeep import keep_history
from webhooks.models import DueDelivery, EndpointHealth


def told(*options):
    out = StringIO()
    call_command("webhooks_status", *options, stdout=out)
    return out.getvalue()


def test_status_counts_what_waits_and_names_the_busiest():
    past.owner("DELETE FROM webhooks_delivery_due")  # what others left behind may become due while this counts
    shown = scene()
    before = backlog()
    with tenant_context(shown.tenant.id):
        DueDelivery.objects.filter(tenant_id=shown.tenant.id).update(due_at=now(), claims=9)

    after = backlog()

    assert (after.queued, after.due, after.lost) == (before.queued, before.due + 1, before.lost + 1)
    with tenant_context(shown.tenant.id):
        rests = {"circuit_state": "open", "circuit_until": now() + timedelta(minutes=5)}
        EndpointHealth.objects.filter(tenant_id=shown.tenant.id).update(**rests)
    held = backlog()
    assert (held.due, held.held_back) == (after.due - 1, after.held_back + 1)
    assert min(after.queued, after.endpoints_failing, after.replays_open) >= 1
    assert "https://" not in told()
    found = json.loads(told("--json"))
    assert found["queued"] == after.queued


def test_status_tells_how_far_ahead_the_history_has_ranges(world):
    past.flatten()
    assert "history has ranges for         0 days" in told()
    keep_history(at=now())
    try:
        assert min(json.loads(told("--json"))["history_days_ahead"].values()) >= 60
    finally:
        past.flatten()
