"""Event types of files, told to their tenant. Source: contract, supply.md 8."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from ledger.public import EventType, register

if TYPE_CHECKING:
    from .models import File


@dataclass(frozen=True)
class FileEvent(EventType):
    """What became of a file; neither its name nor its title is told."""

    resource: ClassVar[str] = "file"
    href: ClassVar[str] = "/v1/files/{id}"

    purpose: str = field(metadata={"example": "product_image"})
    status: str = field(metadata={"example": "ready"})
    content_type: str = field(metadata={"example": "image/png"})
    size: int

    @classmethod
    def of(cls, file: "File") -> Self:
        """Return the event of a file as it stands."""
        return cls(purpose=file.purpose, status=file.status, content_type=file.content_type, size=file.size)


@register
@dataclass(frozen=True)
class FileUploaded(FileEvent):
    """A file was uploaded, or announced for an upload that follows; `status` says which."""

    type: ClassVar[str] = "file.uploaded"


@register
@dataclass(frozen=True)
class FileUpdated(FileEvent):
    """A file has passed the scan, was rejected, bound to something else, or described anew."""

    type: ClassVar[str] = "file.updated"


@register
@dataclass(frozen=True)
class FileDeleted(EventType):
    """A file was deleted."""

    type: ClassVar[str] = "file.deleted"
    resource: ClassVar[str] = "file"

    purpose: str = field(metadata={"example": "product_image"})
