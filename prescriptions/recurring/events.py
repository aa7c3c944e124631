"""Event types of recurring treatments: thin, without the patient. Source: contract, prescriptions.md "Events"."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger import public as ledger


@dataclass(frozen=True)
class TreatmentEvent(ledger.EventType):
    """What became of a recurring treatment; `status` is the one that it has now."""

    resource: ClassVar[str] = "recurring_treatment"
    href: ClassVar[str] = "/v1/prescriptions/recurring/{id}"
    data_class: ClassVar[str] = "phi"

    status: str = field(metadata={"example": "active"})


@ledger.register
@dataclass(frozen=True)
class RecurringTreatmentCreated(TreatmentEvent):
    """A recurring treatment was begun."""

    type: ClassVar[str] = "recurring_treatment.created"


@ledger.register
@dataclass(frozen=True)
class RecurringTreatmentDue(TreatmentEvent):
    """The next prescription of a treatment is due; its draft was made, unless the treatment makes none."""

    type: ClassVar[str] = "recurring_treatment.due"


@ledger.register
@dataclass(frozen=True)
class RecurringTreatmentPaused(TreatmentEvent):
    """A treatment makes no drafts until it is resumed."""

    type: ClassVar[str] = "recurring_treatment.paused"


@ledger.register
@dataclass(frozen=True)
class RecurringTreatmentResumed(TreatmentEvent):
    """A treatment makes drafts again; what was missed is skipped."""

    type: ClassVar[str] = "recurring_treatment.resumed"


@ledger.register
@dataclass(frozen=True)
class RecurringTreatmentCompleted(TreatmentEvent):
    """A treatment has no further occurrence."""

    type: ClassVar[str] = "recurring_treatment.completed"


@ledger.register
@dataclass(frozen=True)
class RecurringTreatmentEnded(TreatmentEvent):
    """A treatment was ended for good."""

    type: ClassVar[str] = "recurring_treatment.ended"
