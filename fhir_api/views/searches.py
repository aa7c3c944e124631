"""Search over HTTP: of one type and of all, by address or by form. Source: R4 http.html#search."""

from collections.abc import Callable, Sequence
from functools import partial

from django.http import HttpRequest, HttpResponse

from core import clock
from core.actor import Actor
from core.errors import Gone, PlatformError
from core.pipeline import Call, Rows
from fhir_api import answers, negotiation, smart
from fhir_api.access.patients import patients_of
from fhir_api.access.records import Access
from fhir_api.search import Ask, run_search
from fhir_api.search.found import Found
from fhir_api.search.parse import Pair, alternatives_of, read_pairs

from .base import FhirViewSet, check_type, reading

FORM = "application/x-www-form-urlencoded"
ALTERNATIVES_OF_UNIT = 50


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
        return self._answer(lambda: self._found(type_name))

    def search_all(self, request: HttpRequest) -> HttpResponse:
        """Search all types, or those that `_type` names."""
        return self._answer(lambda: self._found(""))

    def _answer(self, find: Callable[[], bytes]) -> HttpResponse:
        """Find for what the token leaves, and once more if the roles leave less."""
        self._within = smart.of_subject(self.subject)
        try:
            content = find()
        except _Narrower:
            self._within = self.access
            content = find()
        return answers.of_bytes(self.request, content)

    def _found(self, type_name: str) -> bytes:
        try:
            if type_name:
                check_type(type_name)
                self._within.demand(type_name, smart.SEARCH)
            asked = self._asked(type_name, pairs_of(self.request))
            return run_search(asked, self._trip, partial(self._note, Access("search", type_name)))
        except PlatformError:
            self._trip(())  # first say who may not ask at all
            raise

    def _note(self, read: Access, names: Sequence[str], asked: Sequence[str], found: Sequence[Found]) -> None:
        """Write the record of what is answered: of whom it is, and of whom it was asked, though nothing may be found."""
        answered = patients_of((one.type, one.fhir_id, one.body) for one in found)
        read.patients = sorted({*answered, *asked})
        read.parameters, read.count = names, len(found)
        self.note(self._actor or self.read(lambda _: ())[0], read)

    def note_absent(self, read: Access, refusal: PlatformError) -> None:
        """Write the record of a question about a patient, or another resource, that is not there."""
        outcome = 410 if isinstance(refusal, Gone) else 404
        gone = (read.fhir_id,) if outcome == 410 and read.type == "Patient" else ()
        actor = self._actor or self.read(lambda _: ())[0]
        self.note(actor, Access(read.interaction, read.type, read.fhir_id, patients=gone, outcome=outcome))

    def _asked(self, name: str, pairs: Sequence[Pair]) -> Ask:
        self.meter.charge(alternatives_of(pairs), of_unit=ALTERNATIVES_OF_UNIT)
        return Ask(
            tenant_id=self._tenant_id(),
            type=name,
            pairs=tuple(pairs),
            at=clock.now(),
            strict=negotiation.is_strict(self.request),
            access=self._within,
        )

    def _trip(self, calls: Sequence[Call]) -> list[Rows]:
        self._actor, rows = self.read(lambda _: calls)
        if self.access != self._within:
            raise _Narrower
        return rows


def pairs_of(request: HttpRequest) -> list[Pair]:
    """The parameters of the address and, of a POST, of its form too.

    :raises UnsupportedMediaType: the body is no form.
    """
    pairs = read_pairs(request.META.get("QUERY_STRING", ""))
    if request.method == "POST" and (request.body or request.META.get("CONTENT_TYPE")):
        negotiation.check_content_type(request, (FORM,))
        pairs += read_pairs(request.body)
    return pairs
