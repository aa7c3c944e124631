"""Checks of text: nothing binary in it, no document that a browser would run, XML without definitions of its own."""

import re
from typing import IO, Final, NoReturn
from xml.parsers import expat  # nosec B407  # every document type definition is refused

from suppliers.files.refusals import UnsupportedType

_PIECE = 65_536
# Source: WHATWG MIME Sniffing, "binary data byte".
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_RUN_BY_BROWSERS = re.compile(
    rb"<(?:!doctype|html|head|body|script|iframe|svg|img|object|embed|meta|link|\?xml)[\s/>:]", re.IGNORECASE
)
_OTHER_SCRIPTS: Final = frozenset({"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"})
_ROOTS: Final = frozenset({"html", "svg"})


def check_plain(file: IO[bytes]) -> None:
    """Refuse what is not plain text, or begins as a document for browsers.

    :raises UnsupportedType: as said.
    """
    file.seek(0)
    first = True
    while piece := file.read(_PIECE):
        if _BINARY.search(piece):
            raise UnsupportedType("The content is of no type that is taken.")
        if first and _RUN_BY_BROWSERS.search(piece[:1_024]):
            raise UnsupportedType("The content begins as HTML, SVG or XML.")
        first = False


def check_json(file: IO[bytes]) -> None:
    """Refuse what is not text in UTF-8 that begins and ends as a JSON object or array.

    :raises UnsupportedType: as said.
    """
    check_plain(file)
    file.seek(0)
    head = file.read(_PIECE).lstrip(b" \t\r\n")
    size = file.seek(0, 2)
    file.seek(max(0, size - _PIECE))
    tail = file.read().rstrip(b" \t\r\n")
    if (head[:1], tail[-1:]) not in ((b"{", b"}"), (b"[", b"]")):
        raise UnsupportedType("The content is no JSON object or array.")


def check_xml(file: IO[bytes]) -> None:
    """Refuse what is not well-formed XML, defines entities, or is or holds SVG or XHTML.

    :raises UnsupportedType: as said.
    """
    file.seek(0)
    parser = expat.ParserCreate(namespace_separator=" ")
    reader = _Reader()
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.StartElementHandler = reader.element
    parser.ProcessingInstructionHandler = reader.instruction
    try:
        while piece := file.read(_PIECE):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise UnsupportedType(f"The content is no well-formed XML: {error}.") from None


class _Reader:
    """What the parser tells; it ends at the first thing that could do harm."""

    def __init__(self) -> None:
        self.is_inside = False

    def doctype(self, *_: object) -> NoReturn:
        raise UnsupportedType("XML with a document type definition is not accepted.")

    def instruction(self, target: str, _: str) -> None:
        if target == "xml-stylesheet":
            raise UnsupportedType("XML with a stylesheet is not accepted.")

    def element(self, name: str, _: object) -> None:
        space, _sep, local = name.rpartition(" ")
        if space in _OTHER_SCRIPTS or (not self.is_inside and local.lower() in _ROOTS):
            raise UnsupportedType("XML that is or holds SVG or XHTML is not accepted.")
        self.is_inside = True
