"""Verifying the evidence of one prescription for staff, and what was found in words."""

from typing import Any, Final

from core.pipeline import run
from fhir_api.public import Access, record_read
from organizations.staff.buttons import Alarm, ButtonClick
from prescriptions.evidence.held_evidence import evidence_calls, held_of
from prescriptions.evidence.verification import verify_held

from .looks import PRESCRIPTION

_CHECKS: Final = {
    "digest_ok": ("the digest is that of the text", "the digest is not that of the text"),
    "signature_ok": ("the signature holds", "the signature does not hold"),
    "trusted": ("the key is trusted", "the key is not trusted"),
    "external_signature_ok": ("the prescriber’s own signature holds", "the prescriber’s own signature does not hold"),
    "row_matches_snapshot": ("the row says what was signed", "the row does not say what was signed"),
    "chain_ok": ("the history is whole", "the history is not whole"),
}


def verify_evidence(click: ButtonClick) -> str:
    """Verify snapshot, signature, history and checkpoint; the tenant's audit shows that it was done, and why."""
    row = click.row
    held = held_of(row.tenant_id, run(evidence_calls(row.tenant_id, row.pk)))
    assert held is not None
    shown = verify_held(held)
    read = Access("rx.verify", PRESCRIPTION, str(row.pk), count=1, reason=click.data["reason"])
    record_read(click.actor, [row.patient_id], read)
    return told(shown)


def told(shown: dict[str, Any]) -> str:
    """Put a verification into words; an alarm where a check has failed."""
    faults = [words[1] for name, words in _CHECKS.items() if shown[name] is False]
    checkpoint = shown["checkpoint"]
    if checkpoint is not None and not checkpoint["included"]:
        faults.append(f"checkpoint {checkpoint['number']} does not hold the history")
    if faults:
        return Alarm(f"The evidence has faults: {'; '.join(faults)}.")
    sound = [words[0] for name, words in _CHECKS.items() if shown[name]]
    sound.append(f"checkpoint {checkpoint['number']} holds it" if checkpoint else "no checkpoint holds it yet")
    return f"The evidence is sound: {'; '.join(sound)} ({shown['chain_length']} entries)."
