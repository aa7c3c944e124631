"""The narrative: well-formed XHTML of basic formatting, nothing active, nothing fetched. Source: R4 narrative.html, txt-1, txt-2."""

import re
from typing import Final
from xml.parsers import expat


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SPACE: Final = " \t\r\n"  # of XML; a non-breaking space is content
_XHTML: Final = "http://www.w3.org/1999/xhtml"
_XML: Final = "http://www.w3.org/XML/1998/namespace"
# HTML 4.0, chapters 7 to 11 (without section 4 of chapter 9) and 15, a, images and their maps.
_ELEMENTS: Final = _words(
    "a abbr acronym address area b bdo big blockquote br caption center cite code col colgroup dd dfn div dl dt em font h1 h2 h3 h4 h5 h6"
    " hr i img kbd li map ol p pre q s samp small span strike strong sub sup table tbody td tfoot th thead tr tt u ul var"
)
# Those that txt-1 of R4 lists, and usemap beside map.
_ATTRIBUTES: Final = _words(
    "abbr accesskey align alt axis bgcolor border cellhalign cellpadding cellspacing cellvalign char charoff charset cite class colspan"
    " compact coords dir frame headers height href hreflang hspace id lang longdesc name nowrap rel rev rowspan rules scope shape span src"
    " start style summary tabindex title type usemap valign value vspace width"
)
_LINKS: Final = frozenset({"cite", "href", "longdesc", "usemap"})
_LINK_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "urn"})
_PICTURES: Final = ("data:image/gif;", "data:image/jpeg;", "data:image/jpg;", "data:image/png;", "data:image/webp;")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_IGNORED: Final = re.compile(r"[\x00-\x20]+")  # what a browser drops from an address
_ACTIVE_STYLE: Final = ("url(", "expression(", "@", "\\", "/*", "javascript:", "behavior", "-moz-binding")


class _Refused(Exception):
    """What the narrative may not hold, in words."""


class _Reader:
    """Sees the parts of a narrative as they are parsed."""

    def __init__(self) -> None:
        self.is_root = True
        self.has_content = False

    def element(self, name: str, attributes: dict[str, str]) -> None:
        space, _, plain = name.rpartition(" ")
        if self.is_root and plain != "div":
            raise _Refused("it must be a div")
        self.is_root = False
        if space != _XHTML:
            raise _Refused("every element must be of the namespace of XHTML")
        if plain not in _ELEMENTS:
            raise _Refused("it has an element that is not allowed")
        for attribute, value in attributes.items():
            self._attribute(attribute, value)
        self.has_content = self.has_content or (plain == "img" and "src" in attributes)

    def _attribute(self, name: str, value: str) -> None:
        if name.startswith(_XML + " "):
            return
        if name not in _ATTRIBUTES:
            raise _Refused("it has an attribute that is not allowed")
        if name == "style" and any(word in value.lower() for word in _ACTIVE_STYLE):
            raise _Refused("its style refers to something outside or is active")
        if name in _LINKS and not _is_harmless_link(value):
            raise _Refused("it has a link that is not to http, https, mailto, tel or within")
        if name == "src" and not _is_own_picture(value):
            raise _Refused("an image must be data:image, relative or of the resource itself")

    def text(self, text: str) -> None:
        self.has_content = self.has_content or bool(text.strip(_SPACE))

    def refuse(self, *_: object) -> None:
        raise _Refused("it may hold no document type and no instructions")


def fault(div: str) -> tuple[str, str]:
    """The rule that a narrative breaks and how, or ("", "")."""
    reader = _Reader()
    parser = expat.ParserCreate("utf-8", " ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.element
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = parser.ProcessingInstructionHandler = parser.XmlDeclHandler = reader.refuse
    try:
        parser.Parse(div.encode(), True)
    except _Refused as refused:
        return "txt-1", str(refused)
    except expat.ExpatError as error:
        return "txt-1", f"it is not well-formed XML ({expat.ErrorString(error.code)})"
    return ("", "") if reader.has_content else ("txt-2", "")


def _is_harmless_link(address: str) -> bool:
    scheme = _SCHEME.match(_IGNORED.sub("", address))
    return scheme is None or scheme.group(1).lower() in _LINK_SCHEMES


def _is_own_picture(address: str) -> bool:
    plain = _IGNORED.sub("", address).lower()
    if plain.startswith(("//", "\\")):
        return False
    return _SCHEME.match(plain) is None or plain.startswith(("cid:", *_PICTURES))


__all__ = ["fault"]
