"""Recognition of a content by what it holds, never by what its sender says.

The few accepted types have signatures of their own, or are text that a parser reads; so no library of hundreds of signatures is
asked, which would also name types that nobody takes.
"""

import re
from typing import IO, Final

from suppliers.files.refusals import UnsupportedType

from . import archives, texts
from .kinds import ACCEPTED, ALL, CSV, GIF, JPEG, JSON, PDF, PNG, TEXT, TEXTS, UNDECLARED, WEBP, XLSX, XML, Kind

_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{1,4})$")
_SIGNATURES: Final = (
    (PNG, re.compile(rb"\x89PNG\r\n\x1a\n.{4}IHDR", re.DOTALL)),
    (JPEG, re.compile(rb"\xff\xd8\xff")),
    (GIF, re.compile(rb"GIF8[79]a")),
    (WEBP, re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
    (PDF, re.compile(rb"%PDF-[12]\.\d")),
    (XLSX, re.compile(rb"PK\x03\x04")),
)
_TAIL = 2_048
_ENDS: Final = {PNG: b"IEND\xaeB`\x82", JPEG: b"\xff\xd9", GIF: b";", PDF: b"%%EOF"}


def recognise(file: IO[bytes], *, name: str, declared: str, purpose: str) -> str:
    """Return the media type of a content; the file is left at its beginning.

    :raises UnsupportedType: the content is of no type that the purpose takes, differs from what was declared or from the
        ending of its name, is cut off, or could do harm.
    """
    try:
        kind = _binary(file) or _text(file, name, declared)
        if kind not in ACCEPTED[purpose]:
            taken = ", ".join(one.media for one in ACCEPTED[purpose])
            raise UnsupportedType(f"The content is {kind.media}; the purpose {purpose} takes {taken}.")
        check_declared(kind, name=name, declared=declared)
        if kind is XLSX:
            archives.check_workbook(file)
    finally:
        file.seek(0)
    return kind.media


def check_announced(*, name: str, declared: str, purpose: str) -> str:
    """Return the media type of a content that is yet to be sent.

    :raises UnsupportedType: the purpose does not take it, or the name has the ending of another type.
    """
    found = [kind for kind in ACCEPTED[purpose] if kind.is_declared_by(declared)]
    if not found:
        taken = ", ".join(one.media for one in ACCEPTED[purpose])
        raise UnsupportedType(f"{declared[:80]!r} is not taken; the purpose {purpose} takes {taken}.")
    kind = next((one for one in found if one.media == declared), found[0])
    check_declared(kind, name=name, declared=declared)
    return kind.media


def check_declared(kind: Kind, *, name: str, declared: str) -> None:
    """Hold what a content is against the declared type and the ending of the name.

    :raises UnsupportedType: one of both names another type.
    """
    if declared not in UNDECLARED and not kind.is_declared_by(declared):
        raise UnsupportedType(f"The content is {kind.media}, but {declared[:80]!r} was declared.")
    ending = _ending(name)
    if ending and ending not in kind.endings:
        raise UnsupportedType(f"The content is {kind.media}, but the name ends in .{ending}.")


def _ending(name: str) -> str:
    found = _ENDING.search(name)
    return found[1].lower() if found else ""


def _binary(file: IO[bytes]) -> Kind | None:
    file.seek(0)
    head = file.read(32)
    kind = next((kind for kind, signature in _SIGNATURES if signature.match(head)), None)
    if kind in _ENDS:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        if _ENDS[kind] not in file.read():
            raise UnsupportedType(f"The content begins as {kind.media}, but its end is missing.")
    return kind


def _text(file: IO[bytes], name: str, declared: str) -> Kind:
    """Return which kind of text a content is: what was declared, else what the name ends in, if a parser agrees."""
    ending = _ending(name)
    named = [kind for kind in TEXTS if ending in kind.endings]
    if declared in UNDECLARED:
        chosen = named[0] if named else TEXT
    else:
        meant = [kind for kind in TEXTS if kind.is_declared_by(declared)]
        if not meant:
            known = next((kind.media for kind in ALL if kind.is_declared_by(declared)), "")
            raise UnsupportedType(f"The content is not {known or 'of a type that is taken'}.")
        chosen = next((kind for kind in meant if kind in named), meant[0])
    _CHECKS[chosen](file)
    return chosen


_CHECKS: Final = {
    TEXT: texts.check_plain,
    CSV: texts.check_plain,
    JSON: texts.check_json,
    XML: texts.check_xml,
}
