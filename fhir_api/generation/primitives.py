"""The JSON form of the primitive types. Source: R4 datatypes.html#primitive."""

from typing import Any, Final

_DAY: Final = "([0-9]([0-9]([0-9][1-9]|[1-9]0)|[1-9]00)|[1-9]000)"
_MONTH: Final = "(0[1-9]|1[0-2])"
_DATE: Final = "(0[1-9]|[12][0-9]|3[01])"
# At most nine digits of a second, which the text of R4 leaves open and R5 says.
_TIME: Final = "([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]{1,9})?"
_ZONE: Final = "(Z|[+\\-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_TEXT: Final = "^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f]*$"
_WORD: Final = "[A-Za-z0-9!#$&^_.+\\-]+"
_SEXTET: Final = "([A-Za-z0-9+/]\\s*)"

_OID: Final = "urn:oid:[0-2]([.](0|[1-9][0-9]*))+"
_UUID: Final = "urn:uuid:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def _beside(*starts: str) -> str:
    """Any text without white space that begins with none of these; a linear engine cannot look ahead."""
    heads = sorted({start[:length] for start in starts for length in range(len(start))})
    others = ((head, "".join(sorted({one[len(head)] for one in starts if one.startswith(head)}))) for head in heads)
    return "|".join(f"{head}([^{nexts}\\s]\\S*)?" if head else f"[^{nexts}\\s]\\S*" for head, nexts in others)


URI: Final = f"^({_OID}|{_UUID}|{_beside('urn:oid:', 'urn:uuid:')})$"

_PATTERNS: Final = {
    "base64Binary": f"^\\s*({_SEXTET}{{4}})*({_SEXTET}{{4}}|{_SEXTET}{{3}}=\\s*|{_SEXTET}{{2}}=\\s*=\\s*)$",
    "canonical": URI,
    "code": "^\\S+( \\S+)*$",
    "date": f"^{_DAY}(-{_MONTH}(-{_DATE})?)?$",
    "dateTime": f"^{_DAY}(-{_MONTH}(-{_DATE}(T{_TIME}{_ZONE})?)?)?$",
    "element-id": "^\\S+$",
    "id": "^[A-Za-z0-9.\\-]{1,64}$",
    "instant": f"^{_DAY}-{_MONTH}-{_DATE}T{_TIME}{_ZONE}$",
    "markdown": _TEXT,
    "mime-type": f'^{_WORD}/{_WORD}( ?; ?{_WORD}=({_WORD}|"[^"]*"))*$',
    "oid": f"^{_OID}$",
    "string": _TEXT,
    "time": f"^{_TIME}$",
    "uri": URI,
    "url": URI,
    "uuid": "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    "xhtml": _TEXT,
}
_SMALLEST: Final = {"integer": -(2**31), "unsignedInt": 0, "positiveInt": 1}
_LONGEST: Final = 1024 * 1024
_LONG: Final = frozenset({"base64Binary", "xhtml"})


def schema(name: str) -> dict[str, Any]:
    """The schema of a primitive type; its title is the type's name."""
    if name == "boolean":
        return {"title": name, "type": "boolean"}
    if name == "decimal":
        return {"title": name, "type": "number"}
    if name in _SMALLEST:
        return {"title": name, "type": "integer", "minimum": _SMALLEST[name], "maximum": 2**31 - 1}
    longest = {} if name in _LONG else {"maxLength": _LONGEST}
    return {"title": name, "type": "string", "minLength": 1, **longest, "pattern": _PATTERNS[name]}


__all__ = ["schema"]
