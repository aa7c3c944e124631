"""HTTP of files: the tenant's own, and each that shows what is offered to the tenant."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from api import preconditions
from api.shapes import select
from core.errors import NotFound
from core.pipeline import Call
from suppliers.files import views as own
from suppliers.marketplace.queries import as_market

from .shapes import SeenFileOut, received_file_call, seen_file_call


class FileViewSet(own.FileViewSet):
    """The files of a tenant; others are read by their ids: what a document has handed over to it, and what the catalog shows it."""

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer a file of the tenant, else one that it has received, or that the market shows to it."""
        try:
            return super().retrieve(request, *args, **kwargs)
        except NotFound:
            return self._seen(request)

    def _seen(self, request: HttpRequest) -> HttpResponse:
        shape = SeenFileOut.shape
        selection = select(shape, request.GET.get("fields"), request.GET.get("include"))

        def calls(tenant_id: Any) -> list[Call]:
            given = tenant_id, self.kwargs["pk"], selection
            return [received_file_call(*given), *as_market([seen_file_call(*given)])]

        _, (received, *_, seen) = self.read(calls)
        if not len(received) and not len(seen):
            raise NotFound("No such file.")
        content, version = (received if len(received) else seen).row()
        return self.answer(content or b"null", tag=preconditions.tag_of(shape, selection, content, version))
