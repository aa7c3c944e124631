"""`ValueSet/$expand` and `ValueSet/$validate-code`, of the value sets that this server holds; no ValueSet is kept as a resource."""

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpRequest, HttpResponse

from core import clock
from fhir_api import answers, negotiation
from fhir_api.reading import read_body
from fhir_api.resources import Json
from fhir_api.terminology import Code
from fhir_api.value_sets.operations import Known, expansion, known, validation

from .base import FhirViewSet, reading
from .parameters import InvalidParameters, parts

_OF_HTTP: Final = frozenset({"_format", "_pretty"})
_NAMED: Final = {"url": str, "valueSetVersion": str}
_EXPAND: Final[Mapping[str, type]] = {**_NAMED, "filter": str, "offset": int, "count": int}
_VALIDATE: Final[Mapping[str, type]] = {**_NAMED, "code": str, "system": str, "coding": dict, "codeableConcept": dict}
# What a list of codes without levels, displays and designations answers alike, whatever is asked for.
_SAME: Final = frozenset(
    {
        "abstract",
        "activeOnly",
        "date",
        "designation",
        "display",
        "displayLanguage",
        "excludeNested",
        "excludeNotForUI",
        "excludePostCoordinated",
        "includeDefinition",
        "includeDesignations",
    }
)


class ValueSetViewSet(FhirViewSet):
    """The operations on value sets, asked by address or with Parameters."""

    operations = {
        "expand": reading("List the codes of a value set"),
        "validate_code": reading("Tell whether a code is in a value set"),
    }

    def expand(self, request: HttpRequest) -> HttpResponse:
        """Answer the value set with its codes, or a page of them."""
        self.read(lambda _: ())
        given = _given(request, _EXPAND)
        offset, count = given.get("offset", 0), given.get("count")
        found = self._known(given)
        return answers.of_resource(
            request, expansion(found, text=given.get("filter", ""), offset=offset, count=count, at=clock.now())
        )

    def validate_code(self, request: HttpRequest) -> HttpResponse:
        """Answer whether the code, or one of the codings, is a member."""
        self.read(lambda _: ())
        given = _given(request, _VALIDATE)
        codes = _codes(given)
        return answers.of_resource(request, validation(self._known(given), codes))

    def _known(self, given: Json) -> Known:
        if not given.get("url"):
            raise InvalidParameters("The parameter url names the value set.", issue_type="required")
        url, _, version = given["url"].partition("|")
        stated = given.get("valueSetVersion") or version
        return known(self._tenant_id(), url, stated, lambda calls: self.read(lambda _: calls)[1])


def _codes(given: Json) -> list[Code]:
    """What is to be validated.

    :raises InvalidParameters: nothing, or several of what is meant to be one.
    """
    asked = [name for name in ("code", "coding", "codeableConcept") if name in given]
    if len(asked) != 1:
        raise InvalidParameters("One of code, coding and codeableConcept is asked.", issue_type="required")
    if asked == ["code"]:
        if not given.get("system"):
            raise InvalidParameters("A code is asked with its system.", issue_type="required")
        return [(given["system"], given["code"])]
    codings: Any = [given["coding"]] if "coding" in given else given["codeableConcept"].get("coding", [])
    if not isinstance(codings, list) or not all(isinstance(one, dict) for one in codings):
        raise InvalidParameters("A CodeableConcept has a list of codings.", issue_type="structure")
    pairs = [(one.get("system"), one.get("code")) for one in codings]
    return [(system, code) for system, code in pairs if isinstance(system, str) and isinstance(code, str)]


def _given(request: HttpRequest, known_names: Mapping[str, type]) -> Json:
    """The parameters of the address and, of a POST, those of its Parameters, each once.

    :raises InvalidParameters: one is unknown, said twice, or of another form.
    """
    pairs: list[tuple[Any, Any]] = [(name, value) for name, values in request.GET.lists() for value in values if value]
    if request.method == "POST" and request.body:
        negotiation.check_content_type(request)
        sent = parts(read_body(request.body, "Parameters").get("parameter", []))
        pairs += [(one.get("name"), _value(one)) for one in sent]
    found: Json = {}
    for name, value in pairs:
        if name in _SAME or name in _OF_HTTP:
            continue
        if name not in known_names:
            text = f"The parameters are {', '.join(known_names)}."
            raise InvalidParameters(text, issue_type="not-supported")
        if name in found:
            raise InvalidParameters(f"The parameter {name} has one value.", issue_type="value")
        found[name] = _typed(name, value, known_names[name])
    return found


def _value(part: Json) -> Any:
    return next((value for member, value in part.items() if member.startswith("value")), None)


def _typed(name: str, value: Any, kind: type) -> Any:
    """A value in its type; whole numbers come as texts in an address."""
    if kind is int and isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:9])
    if not isinstance(value, kind) or isinstance(value, bool) or (isinstance(value, int) and value < 0):
        form = {int: "a whole number from 0 up", dict: "a Coding or CodeableConcept in Parameters"}.get(kind, "a text")
        raise InvalidParameters(f"The parameter {name} is {form}.", issue_type="value")
    return value
