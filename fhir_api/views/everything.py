"""`$everything` of a Patient or an Encounter over HTTP. Source: R4 operation-patient-everything.html, operations.html#executing."""

from functools import partial
from typing import Final

from django.http import HttpRequest, HttpResponse

from core.errors import Gone, PlatformError
from fhir_api import negotiation, smart
from fhir_api.access.records import Access
from fhir_api.reading import read_body
from fhir_api.resources import Json
from fhir_api.search import run_everything
from fhir_api.search.everything import name_of
from fhir_api.search.parse import Pair, read_pairs
from fhir_api.store import NoSuchResource

from .base import reading
from .instances import UnknownOperation, check_name
from .parameters import InvalidParameters, parts
from .searches import SearchViewSet

_OF: Final = ("Patient", "Encounter")

# How each parameter is written in Parameters. Source: R4 operation-patient-everything.html.
_VALUES: Final = {
    "start": "valueDate",
    "end": "valueDate",
    "_since": "valueInstant",
    "_type": "valueCode",
    "_count": "valueInteger",
}


class EverythingViewSet(SearchViewSet):
    """The operation on one patient or encounter, asked by address or with Parameters."""

    operations = {"everything": reading("Read everything of a patient or an encounter")}

    def everything(self, request: HttpRequest, type_name: str = "Patient", fhir_id: str = "") -> HttpResponse:
        """Answer a page of the compartment and of what it refers to; without an id, of the patient the token is for."""
        return self._answer(lambda: self._everything(type_name, fhir_id or self._within.patient))

    def _everything(self, type_name: str, fhir_id: str) -> bytes:
        read = Access("everything", type_name, fhir_id)
        try:
            if not fhir_id:
                text = "Without an id this is for a token of one patient; Patient/$export gives the whole record."
                raise UnknownOperation(text, issue_type="not-supported")
            check_name(type_name, fhir_id)
            if type_name not in _OF:
                text = f"$everything is an operation on a {' or '.join(_OF)}."
                raise UnknownOperation(text, issue_type="not-supported")
            self._within.demand(type_name, smart.READ)
            whose = type_name, fhir_id
            asked = self._asked(name_of(whose), _pairs(self.request))
            return run_everything(asked, whose, self._trip, partial(self._note, read))
        except (NoSuchResource, Gone) as refusal:
            self.note_absent(read, refusal)
            raise
        except PlatformError:
            self._trip(())  # first say who may not ask at all
            raise


def _pairs(request: HttpRequest) -> list[Pair]:
    """The parameters of the address, and of a POST those in its Parameters too."""
    pairs = read_pairs(request.META.get("QUERY_STRING", ""))
    if request.method == "POST" and request.body:
        negotiation.check_content_type(request)
        pairs += [_pair(one) for one in parts(read_body(request.body, "Parameters").get("parameter", []))]
    return pairs


def _pair(part: Json) -> Pair:
    name = part.get("name")
    if not isinstance(name, str):
        raise InvalidParameters("A parameter has a name.", issue_type="required", expression="Parameters.parameter")
    value = part.get(_VALUES.get(name, ""))
    if name not in _VALUES:
        return name, "?"
    if not isinstance(value, int if name == "_count" else str) or isinstance(value, bool):
        text = f"{name} has a {_VALUES[name]}."
        raise InvalidParameters(text, issue_type="value", expression="Parameters.parameter")
    return name, str(value)
