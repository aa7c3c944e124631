"""HTTP of files: the resource, and the contents behind signed links."""

from typing import Any
from uuid import UUID

import orjson
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from api import envelopes, multipart
from api.operations import Operation
from api.sorts import ORDERING_FIELDS
from api.views import ApiViewSet
from core import clock
from core.actor import Actor
from core.errors import InvalidFields, InvalidTransition, QuotaExceeded, VersionConflict

from . import links
from .actions import add_file, delete_file, give_up, locked_file, store_upload, update_file
from .filters import FileFilters
from .reading import read_content
from .receiving import take_content
from .refusals import FileBound, FileTooLarge, NoSuchContent, StoreAway, UnsupportedType, UploadDiffers
from .representations import FileOut
from .serializers import FileFormIn, FileIn, FilePatchIn
from .states import MOST_BYTES

_FORM_BYTES = MOST_BYTES + 131_072  # the content, with the other parts of the form and what stands between them


class FileViewSet(ApiViewSet):
    """The files of a tenant."""

    family = "supplier"
    scope_prefix = "files:"
    serializer_class = FileOut
    filterset_class = FileFilters
    ordering_fields = (*ORDERING_FIELDS, "name")
    operation_ids = {"create": "uploadFile"}
    operations = {
        "list": Operation("List files"),
        "create": Operation(
            "Upload a file, or announce one",
            "As a form, the content comes with the request: at most 20 MiB, in 10 seconds and one more for each 64 KiB. As JSON, "
            "the content is announced, and `upload` of the answer says where the client sends it within 15 minutes, with "
            "exactly these headers. Either way it stands in quarantine until it was scanned: `file.updated` tells when "
            "`status` becomes `ready` or `rejected`. The type is recognised by the content, and must be what was declared "
            "and what the purpose takes. The tenant's file of the same content and purpose is answered with 200 instead of "
            "making another; what else was sent with it is not applied. One that awaits its content takes that of a form.",
            body=FileIn,
            multipart=FileFormIn,
            spooled_bytes=_FORM_BYTES,
            further_statuses=(200,),
            run=add_file,
            errors=(
                InvalidFields,
                multipart.InvalidMultipart,
                UnsupportedType,
                FileTooLarge,
                QuotaExceeded,
                StoreAway,
                UploadDiffers,
            ),
        ),
        "retrieve": Operation(
            "Get a file",
            "`content_url` is null unless the file is ready. It needs no credential and holds for five minutes; the content "
            "comes as an attachment. The ETag of a ready file changes each minute with the link; what stands before the "
            "semicolon is the version. A ready file of visibility `catalog` is read by every buyer, too, who may see the offer "
            "or the product that it is bound to, without its bindings. A file of visibility `counterparty` is read by the other party of a "
            "document that names it, once the document was handed over, as it was then. Lists hold own files only.",
        ),
        "partial_update": Operation(
            "Describe or bind a file anew",
            "`bindings` replaces all bindings. A product, an offer and the supplier itself can be bound. What is evidence of a "
            "delivery, an invoice, a return or a message stays bound to it.",
            body=FilePatchIn,
            find=locked_file,
            run=update_file,
            errors=(InvalidFields, VersionConflict, FileBound),
        ),
        "destroy": Operation(
            "Delete a file",
            "One that is bound to nothing: take its bindings off before. What a licence names is evidence, and stays. Links to the "
            "content end at once.",
            find=locked_file,
            run=delete_file,
            errors=(VersionConflict, FileBound, InvalidTransition),
        ),
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the list, with a link to the content of each file that is ready."""
        response = super().list(request, *args, **kwargs)
        if response.status_code == 200:
            whole = orjson.loads(response.content)
            for item in whole["data"]["items"]:
                self._link(item)
            response.content = orjson.dumps(whole)
        return response

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Keep an upload, whose content is stored before the transaction that makes the file; or announce one."""
        if not multipart.is_multipart(request):
            return self.write()
        tenant_id, stored, is_held = self._tenant_id(), None, False
        try:
            stored = self.before_transaction(lambda data: store_upload(tenant_id, data, clock.now()))
            response = self.write(stored=stored)
            is_held = response.status_code == 201 and "Idempotency-Replayed" not in response.headers
            return response
        finally:
            multipart.close(request)
            if stored is not None and not is_held:
                give_up(tenant_id, stored, clock.now())

    def answer(
        self, content: bytes, *, tag: str = "", status: int = 200, headers: dict[str, str] | None = None
    ) -> HttpResponse:
        """Answer one file, with a link to its content if it is ready."""
        shown = orjson.loads(content)
        self._link(shown)
        return super().answer(orjson.dumps(shown), tag=tag, status=status, headers=headers)

    def _check(self, actor: Actor) -> None:
        """Keep who asks, for the links of the answer."""
        super()._check(actor)
        self.reader = actor

    def _link(self, shown: dict[str, Any]) -> None:
        """Put a link in the place of what it is made for, if the caller may read it; see `READABLE` of the representation."""
        if readable := shown.get("content_url"):
            tenant_id, file_id, *scopes = readable.split("/")
            is_open = all(map(self.reader.may, scopes))
            link = links.content_url(UUID(tenant_id), UUID(file_id), at=clock.now()) if is_open else None
            shown["content_url"] = link


class ContentViewSet(ApiViewSet):
    """Contents behind signed links, which are themselves the credential."""

    family = "supplier"
    documented = False
    lookup_url_kwarg = "token"
    lookup_value_converter = "str"
    operations = {
        "retrieve": Operation("Read a content", public=True, tenant="none", errors=(NoSuchContent, StoreAway)),
        "update": Operation(
            "Send a content that was announced",
            public=True,
            tenant="none",
            status=204,
            spooled_bytes=MOST_BYTES,
            errors=(NoSuchContent, UploadDiffers, StoreAway),
        ),
    }

    def negotiate(self, request: HttpRequest) -> None:
        """Answer whatever Accept says: browsers and their images ask for types of their own."""

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        """Answer the content as an attachment, which no browser shows or runs."""
        found = read_content(links.opened(self.kwargs["token"], links.READ, at=clock.now()))
        response = FileResponse(found.file, as_attachment=True, filename=found.name, content_type=found.content_type)
        response.headers["Content-Length"] = str(found.size)
        response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
        response.headers["Cache-Control"] = "private, no-store"
        return response

    def update(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Take a content that was announced."""
        at = clock.now()
        link = links.opened(self.kwargs["token"], links.WRITE, at=at)
        take_content(link, request, size=int(request.META.get("CONTENT_LENGTH") or 0), at=at)
        return envelopes.respond(b"", status=204)
