"""The event of a checkpoint: whoever receives it outside is its witness."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger import public as ledger


@ledger.register
@dataclass(frozen=True)
class AuditCheckpointCreated(ledger.EventType):
    """The audit history was sealed up to here: the number of the checkpoint, the size of its tree, and the signed root."""

    type: ClassVar[str] = "audit_checkpoint.created"
    resource: ClassVar[str] = "audit_checkpoint"

    number: int
    size: int
    root: str = field(metadata={"example": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"})
