"""`Observation/$lastn` over HTTP. Source: R4 operation-observation-lastn.html, operations.html#executing."""

from functools import partial

from django.http import HttpRequest, HttpResponse

from core.errors import PlatformError
from fhir_api import negotiation, smart
from fhir_api.access.records import Access
from fhir_api.reading import read_body
from fhir_api.resources import Json
from fhir_api.search import run_latest
from fhir_api.search.parse import Pair, checked_pairs, read_pairs

from .base import reading
from .parameters import InvalidParameters, parts
from .searches import SearchViewSet

_TYPE = "Observation"


class LatestViewSet(SearchViewSet):
    """The operation on observations, asked by address or with Parameters."""

    operations = {"lastn": reading("Read the latest observations of each code")}

    def lastn(self, request: HttpRequest) -> HttpResponse:
        """Answer the newest of each code."""
        return self._answer(self._latest)

    def _latest(self) -> bytes:
        try:
            self._within.demand(_TYPE, smart.SEARCH)
            asked = self._asked(_TYPE, _pairs(self.request))
            return run_latest(asked, self._trip, partial(self._note, Access("lastn", _TYPE)))
        except PlatformError:
            self._trip(())  # first say who may not ask at all
            raise


def _pairs(request: HttpRequest) -> list[Pair]:
    """The parameters of the address, and of a POST those in its Parameters too."""
    pairs = read_pairs(request.META.get("QUERY_STRING", ""))
    if request.method == "POST" and request.body:
        negotiation.check_content_type(request)
        given = parts(read_body(request.body, "Parameters").get("parameter", []))
        pairs += checked_pairs([_pair(one) for one in given])
    return pairs


def _pair(part: Json) -> Pair:
    """A search parameter as Parameters hold it: a text of any type, or a whole number."""
    name, values = part.get("name"), [value for member, value in part.items() if member.startswith("value")]
    if (
        not isinstance(name, str)
        or len(values) != 1
        or not isinstance(values[0], str | int)
        or values[0] in (True, False)
    ):
        text = "A parameter has a name, and a value that is a text or a whole number."
        raise InvalidParameters(text, issue_type="structure", expression="Parameters.parameter")
    return name, str(values[0])
