"""PATCH of an agreement: its own draft, or the status of the accepted version. Source: contract, supply-price.md 5."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import ReadBack, run

from .drafts import edit
from .finding import OF_ACCEPTED, AgreementAt, OwnDraft, Target
from .life import resume, suspend
from .models import AGREEMENTS, AgreementDraft, PriceAgreement
from .states import AgreementStatus

_ACCEPTED: Final = AgreementAt(AGREEMENTS, order=OF_ACCEPTED, is_serial=True)


@needs_transaction
def change(
    actor: Actor, target: Target, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> AgreementDraft | PriceAgreement:
    """Change the own draft, or suspend or resume the accepted version.

    :raises InvalidTransition: the accepted version is in the status already, or none was accepted.
    :raises AgreementOverlap: others have come to hold for the same while it was suspended.
    :raises AgreementImmutable, FieldLocked, InvalidFields: as `edit`.
    """
    if "status" not in data:
        return edit(actor, target, data, at, reading)
    if isinstance(target, OwnDraft):
        (located,) = run([_ACCEPTED.locate(actor.tenant_id, target.row.agreement_id)])
        target = _ACCEPTED(actor, target.row.agreement_id, located=located)
    if data["status"] == AgreementStatus.SUSPENDED:
        return suspend(actor, target, data, at, reading)
    return resume(actor, target, at, reading)
