"""Search over HTTP: of one type and of all, by address or by form. Source: R4 http.html#search."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse

from core import clock
from core.actor import Actor
from core.errors import PlatformError
from core.pipeline import Call, Rows
from fhir_api import answers, negotiation, smart
from fhir_api.access.patients import patients_of
from fhir_api.access.records import Access
from fhir_api.search import Ask, run_search
from fhir_api.search.found import Found
from fhir_api.search.parse import Pair, read_pairs

from .base import FhirViewSet, check_type, reading

FORM = "application/x-www-form-urlencoded"


class _Narrower(Exception):
    """The caller's roles leave less than his token: what was asked for is thrown away and asked anew."""


class SearchViewSet(FhirViewSet):
    """The searches; every trip to the tables carries the proof of membership that binds the tenant."""

    operations = {
        "search": reading("Search resources of a type"),
        "search_all": reading("Search resources of all types"),
    }

    _actor: Actor | None = None
    _within: smart.Access  # what the statements are made for: the token's scopes, then what the roles leave of them

    def search(self, request: HttpRequest, type_name: str) -> HttpResponse:
        """Search one type."""
        return self._search(type_name)

    def search_all(self, request: HttpRequest) -> HttpResponse:
        """Search all types, or those that `_type` names."""
        return self._search("")

    def _search(self, type_name: str) -> HttpResponse:
        self._within = smart.narrowed(self.subject.scopes)
        try:
            content = self._found(type_name)
        except _Narrower:
            self._within = self.access
            content = self._found(type_name)
        return answers.of_bytes(self.request, content)

    def _found(self, type_name: str) -> bytes:
        def note(names: Sequence[str], found: Sequence[Found]) -> None:
            whose = patients_of((one.type, one.fhir_id, one.body) for one in found)
            read = Access("search", type_name, parameters=names, patients=whose, count=len(found))
            self.note(self._actor or self.ask(lambda _: ())[0], read)

        try:
            return run_search(self._asked(type_name), self._trip, note)
        except PlatformError:
            self._trip(())  # first say who may not ask at all
            raise

    def _asked(self, type_name: str) -> Ask:
        if type_name:
            check_type(type_name)
            self._within.demand(type_name, smart.SEARCH)
        return Ask(
            tenant_id=self._tenant_id(),
            type=type_name,
            pairs=tuple(_pairs(self.request)),
            at=clock.now(),
            strict=negotiation.is_strict(self.request),
            access=self._within,
        )

    def _trip(self, calls: Sequence[Call]) -> list[Rows]:
        self._actor, rows = self.ask(lambda _: calls)
        if self.access != self._within:
            raise _Narrower
        return rows


def _pairs(request: HttpRequest) -> list[Pair]:
    """The parameters of the address and, of a POST, of its form too.

    :raises UnsupportedMediaType: the body is no form.
    """
    pairs = read_pairs(request.META.get("QUERY_STRING", ""))
    if request.method == "POST" and (request.body or request.META.get("CONTENT_TYPE")):
        negotiation.check_content_type(request, (FORM,))
        pairs += read_pairs(request.body)
    return pairs
