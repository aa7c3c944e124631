"""Prescriptions as a Django app; loads the platform's tables of medications after every migration."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

OWNER = "owner"


class PrescriptionsConfig(AppConfig):
    """One Django app of several feature folders."""

    name = "prescriptions"
    verbose_name = "Prescriptions"

    def ready(self) -> None:
        """Register events, received copies and what the record keeps, and the loading of the demonstration tables."""
        from .lifecycle import events  # noqa: F401  # registers the event types
        from .owned_resources import own_resources
        from .prescribing.cancelling import follow_cancelling
        from .recurring import events as recurring_events  # noqa: F401
        from .requests import events as request_events  # noqa: F401
        from .requests.closing import close_open_requests
        from .templates import events as template_events  # noqa: F401

        own_resources()
        follow_cancelling(close_open_requests)
        self._register_copies()
        self._register_evidence()
        post_migrate.connect(_after_migrate, sender=self, dispatch_uid="prescriptions")

    def _register_copies(self) -> None:
        """Register what pharmacies may see of a prescription, of their dispensations and of their requests."""
        from api.listing import representation
        from organizations import public as organizations

        from .dispensing.models import DISPENSATIONS
        from .dispensing.representations import DispensationOut
        from .lifecycle.copies import PRESCRIPTIONS
        from .prescribing.representations import PrescriptionForPharmacyOut
        from .requests.models import REQUESTS
        from .requests.representations import RequestOut

        for kind, shown in (
            (PRESCRIPTIONS, PrescriptionForPharmacyOut),
            (DISPENSATIONS, DispensationOut),
            (REQUESTS, RequestOut),
        ):
            organizations.register_received(kind, representation=representation(shown.shape))

    def _register_evidence(self) -> None:
        """Register what the keys of this app have signed, what evidence holds of dispensing, and the rules between rows."""
        from core.invariants import prove_with
        from organizations import public as organizations
        from organizations.public import KeyPurpose

        from .dispensing.representations import DispensationOut
        from .evidence import events  # noqa: F401  # registers the event type
        from .evidence.files import show_dispensations
        from .evidence.invariants import RULE, breaches
        from .evidence.representations import rows_by
        from .evidence.signed_by import checkpoints_by, snapshots_by

        organizations.register_signatures(KeyPurpose.SNAPSHOT, snapshots_by)
        organizations.register_signatures(KeyPurpose.CHECKPOINT, checkpoints_by)
        show_dispensations(rows_by(DispensationOut.shape, "prescription_id"))
        prove_with(RULE, breaches)


def _after_migrate(*, using: str, **_: Any) -> None:
    from .medications.demonstration import seed_demonstration

    if using == OWNER:
        seed_demonstration(using)
