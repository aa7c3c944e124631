"""Media types that a GET answers beside JSON, chosen by Accept. Source: RFC 9110 section 12.5.1; contract, conventions.md "Shapes"."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from core.errors import FieldError, InvalidFields

from .envelopes import JSON
from .errors import NotAcceptable

PARAMETER = "document"
_WILD = ("json", "*/*", "application/*")


@dataclass(frozen=True, slots=True)
class Media:
    """A media type of an operation; `documents` are the values of the parameter `document`, the usual one first.

    Without `has_usual` it is for the object to say which one is answered where none is asked for.
    """

    type: str
    text: str
    documents: tuple[str, ...] = ()
    has_usual: bool = True


def chosen(request: HttpRequest, offered: Sequence[Media]) -> Media | None:
    """Return which further media type the caller prefers; None stands for JSON.

    :raises NotAcceptable: Accept names neither JSON, nor a wildcard for it, nor one that is offered.
    """
    header = request.META.get("HTTP_ACCEPT")
    if not header:
        return None
    if offered:
        preferred = request.get_preferred_type([JSON, *(one.type for one in offered)])
        if found := next((one for one in offered if one.type == preferred), None):
            return found
    if not any(kind in header for kind in _WILD):
        raise NotAcceptable(f"Answers are {', '.join([JSON, *(one.type for one in offered)])}.")
    return None


def asked_document(request: HttpRequest, media: Media) -> str:
    """Return which document of a media type is asked for; empty where the object says which.

    :raises InvalidFields: `document` names none of them.
    """
    asked = request.GET.get(PARAMETER)
    if asked is None:
        return media.documents[0] if media.documents and media.has_usual else ""
    if asked not in media.documents:
        text = f"Choose one of {', '.join(media.documents)}." if media.documents else f"{media.type} has one form only."
        raise InvalidFields(errors=[FieldError(PARAMETER, "invalid_choice", text)])
    return asked
