"""Event types of templates, which hold no patient's data."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger import public as ledger


@dataclass(frozen=True)
class TemplateEvent(ledger.EventType):
    """What became of a template."""

    resource: ClassVar[str] = "prescription_template"
    href: ClassVar[str] = "/v1/prescriptions/templates/{id}"
    data_class: ClassVar[str] = "none"

    visibility: str = field(metadata={"example": "tenant"})


@ledger.register
@dataclass(frozen=True)
class PrescriptionTemplateCreated(TemplateEvent):
    """A template was made."""

    type: ClassVar[str] = "prescription_template.created"


@ledger.register
@dataclass(frozen=True)
class PrescriptionTemplateUpdated(TemplateEvent):
    """A template was replaced."""

    type: ClassVar[str] = "prescription_template.updated"


@ledger.register
@dataclass(frozen=True)
class PrescriptionTemplateDeleted(TemplateEvent):
    """A template was archived."""

    type: ClassVar[str] = "prescription_template.deleted"
