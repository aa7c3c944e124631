"""The answer to a GET that prefers a document for other systems: read it, read its parties, write it."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse

from api import preconditions
from api.filters import check_names
from api.further_media import PARAMETER, Media, asked_document
from api.two_sides import TwoSidedViewSet
from api.views import ApiViewSet
from core.errors import InvalidTransition, NotFound
from core.pipeline import Call, Statement
from suppliers.exchange.parties import Parties, read_parties
from suppliers.exchange.shapes import Found

Writer = Callable[[Mapping[str, Any], Parties], bytes]


def answer(
    view: ApiViewSet, key: UUID, statement: Statement, writers: Mapping[tuple[str, str], Writer], *, noun: str
) -> HttpResponse:
    """Answer the document that the request asks for, with an ETag of its own.

    :param writers: by media type and document; the empty one where the object says which.
    :raises NotFound: the caller may not see it.
    :raises InvalidFields: `document` names none that it has.
    :raises InvalidTransition: it was never sent.
    :raises DocumentIncomplete: it lacks what its profile requires.
    """
    request, media = view.request, view.media
    assert media is not None
    asked: list[str] = []

    def calls(tenant_id: UUID) -> list[Call]:
        check_names(request.GET, (PARAMETER,))
        asked.append(asked_document(request, media))
        return [Call(statement, [str(tenant_id), str(key)])]

    actor, (rows,) = view.read(calls)
    found = next(iter(rows.of(Found)), None)
    if found is None:
        raise NotFound(f"No such {noun}.")
    if isinstance(view, TwoSidedViewSet):
        view.check_place(actor, found.side)
    shown = orjson.loads(found.content)
    if "sent_at" in shown and shown["sent_at"] is None:
        raise InvalidTransition("It was never sent.", state="draft", action=asked[0])
    parties = read_parties(actor.tenant_id, found.supplier_id, found.buyer_id)
    content = writers[media.type, asked[0]](shown, parties)
    return _respond(request, content, media, found.version)


def _respond(request: HttpRequest, content: bytes, media: Media, version: str) -> HttpResponse:
    tag = preconditions.content_etag(content, version)
    if preconditions.matches_none(request, tag):
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(content, content_type=media.type)
    response.headers["ETag"] = tag
    return response
