"""XML as text: elements that vanish where they hold nothing. Source: XML 1.0 sections 2.2, 2.4; UBL 2.1 section 4."""

import re
from typing import Final
from xml.sax.saxutils import escape, quoteattr

_COMMON: Final = "urn:oasis:names:specification:ubl:schema:xsd:"
_NAMESPACES: Final = f'xmlns:cac="{_COMMON}CommonAggregateComponents-2" xmlns:cbc="{_COMMON}CommonBasicComponents-2"'
# What XML cannot hold.
_ILLEGAL: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Xml = str  # the text of an element with its children; empty where there is none


def value(name: str, content: object, **attributes: str) -> Xml:
    """Write a basic element, such as `cbc:ID`; nothing for no content."""
    text = "" if content is None else _ILLEGAL.sub("", str(content)).strip()
    if not text:
        return ""
    named = "".join(f" {key}={quoteattr(one)}" for key, one in attributes.items())
    return f"<cbc:{name}{named}>{escape(text)}</cbc:{name}>"


def group(name: str, *parts: Xml) -> Xml:
    """Write an aggregate element, such as `cac:Party`, in the order of its parts; nothing where all of them are empty."""
    content = "".join(parts)
    return f"<cac:{name}>{content}</cac:{name}>" if content else ""


def document(root: str, *parts: Xml) -> bytes:
    """Write a whole document of UBL."""
    content = "".join(parts)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{_COMMON}{root}-2" {_NAMESPACES}>{content}</{root}>\n'.encode()
