"""The types of content that the platform takes, and which of them each purpose does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from suppliers.files.states import Purpose


@dataclass(frozen=True, slots=True)
class Kind:
    """One type of content: its media type, others by which clients declare it, and the endings of names."""

    media: str
    endings: tuple[str, ...]
    aliases: tuple[str, ...] = ()

    def is_declared_by(self, media: str) -> bool:
        """Tell whether a media type stands for this kind."""
        return media == self.media or media in self.aliases


JPEG = Kind("image/jpeg", ("jpg", "jpeg", "jpe", "jfif"), ("image/jpg", "image/pjpeg"))
PNG = Kind("image/png", ("png",), ("image/x-png",))
WEBP = Kind("image/webp", ("webp",))
GIF = Kind("image/gif", ("gif",))
PDF = Kind("application/pdf", ("pdf",), ("application/x-pdf",))
XLSX = Kind("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ("xlsx",))
CSV = Kind("text/csv", ("csv",), ("application/csv", "application/vnd.ms-excel", "text/plain"))
XML = Kind("application/xml", ("xml",), ("text/xml",))
JSON = Kind("application/json", ("json",), ("text/json",))
TEXT = Kind("text/plain", ("txt", "text", "log"))

TEXTS: Final = (TEXT, CSV, XML, JSON)
ALL: Final = (JPEG, PNG, WEBP, GIF, PDF, XLSX, *TEXTS)
UNDECLARED: Final = ("", "application/octet-stream", "binary/octet-stream")

_PHOTOGRAPHS = (JPEG, PNG, WEBP)
_PAPERS = (PDF, JPEG, PNG)

ACCEPTED: Final[Mapping[str, tuple[Kind, ...]]] = {
    Purpose.PRODUCT_IMAGE: (*_PHOTOGRAPHS, GIF),
    Purpose.PRODUCT_DOCUMENT: (PDF, *_PHOTOGRAPHS, TEXT),
    Purpose.CERTIFICATE: _PAPERS,
    Purpose.SAFETY_SHEET: _PAPERS,
    Purpose.INVOICE: (*_PAPERS, XML),
    Purpose.DELIVERY_DOCUMENT: (PDF, *_PHOTOGRAPHS, XML, CSV),
    Purpose.TEMPERATURE_LOG: (PDF, CSV, XLSX, JSON, XML, TEXT),
    Purpose.REPORT: (CSV, XLSX, JSON, PDF),
    Purpose.MESSAGE: (PDF, *_PHOTOGRAPHS, GIF, CSV, XLSX, TEXT),
}
