"""A tenant is closed: its key goes, and what names people; histories and digests stay, and the pharmacy's own copy."""

import io
import json

from django.core.management import call_command

from core.clock import now
from core.db import tenant_context
from organizations.tenant_keys import forget_tenant_keys
from prescriptions.evidence.auditing import audit
from prescriptions.evidence.checkpoints import make_checkpoint
from prescriptions.models import AuditEntry, AuditOrigin, Checkpoint, Prescription, Snapshot
from tests.prescriptions.ward import done, ward


def test_closing_leaves_histories_and_the_pharmacys_copy():
    made = ward()
    tenant = made.clinic.tenant
    one, _ = made.routed(), made.draft()
    shown = done(made.pharmacist.get(f"/v1/prescriptions/{one['id']}/snapshot"))
    with tenant_context(tenant.id):
        make_checkpoint(tenant.id, at=now())
    out = io.StringIO()
    terms = ["--tenant", tenant.slug, "--confirm", tenant.slug, "--retention-days", "0", "--json"]
    call_command("close_tenant", *terms, stdout=out)
    assert json.loads(out.getvalue())["status"] == "closed"
    forget_tenant_keys()
    with tenant_context(tenant.id):
        counts = [model.objects.filter(tenant_id=tenant.id).count() for model in (Prescription, AuditOrigin)]
        kept = [model.objects.filter(tenant_id=tenant.id).count() for model in (AuditEntry, Snapshot, Checkpoint)]
    assert (counts, kept) == ([0, 0], [5, 1, 1])
    assert done(made.pharmacist.get(f"/v1/prescriptions/{one['id']}/snapshot")) == shown
    found = audit(tenant.id)
    assert (found.is_closed, found.entries, found.faults) == (True, 5, [])
