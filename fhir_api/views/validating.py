"""`$validate`: what the server would say of a resource, without keeping it. Source: R4 resource-operation-validate.html."""

from django.http import HttpRequest, HttpResponse

from fhir_api import answers, negotiation
from fhir_api.ids import check_id
from fhir_api.outcomes import INFORMATION, Issue, outcome
from fhir_api.reading import WrongType, read_body
from fhir_api.resources import Json
from fhir_api.validation import validate

from .base import FhirViewSet, check_type, reading
from .parameters import InvalidParameters, parts

MODES = ("create", "update", "delete", "profile")


class ValidateViewSet(FhirViewSet):
    """The operation on the system, a type and an instance; the body is the resource or Parameters that hold it."""

    operations = {"validate": reading("Validate a resource")}

    def validate(self, request: HttpRequest, type_name: str = "", fhir_id: str = "") -> HttpResponse:
        """Answer every broken rule as an issue; 200 whether there are any or not."""
        self.ask(lambda _: ())
        if type_name:
            check_type(type_name)
        if fhir_id:
            check_id(fhir_id)
        negotiation.check_content_type(request)
        resource = _resource(read_body(request.body, None))
        kind = resource["resourceType"]
        if type_name and kind != type_name:
            raise WrongType(f"A {type_name} is expected.", issue_type="value", expression="resourceType")
        check_type(kind)
        issues = _of_id(resource, fhir_id) + list(validate(resource))
        told = issues or [Issue("informational", "The resource is valid.", severity=INFORMATION)]
        return answers.of_resource(request, outcome(told, request_id=getattr(request, "request_id", "")))


def _of_id(resource: Json, fhir_id: str) -> list[Issue]:
    if not fhir_id or resource.get("id") == fhir_id:
        return []
    return [Issue("value", "The body's id is that of the URL.", f"{resource['resourceType']}.id", "id_mismatch")]


def _resource(sent: Json) -> Json:
    """The resource itself; expressions are told of it, not of the Parameters around it."""
    if sent["resourceType"] != "Parameters":
        return sent
    given = {one.get("name"): one for one in parts(sent.get("parameter"))}
    mode = given.get("mode", {}).get("valueCode", "create")
    if mode not in MODES:
        raise InvalidParameters(
            f"mode is one of {', '.join(MODES)}.", issue_type="value", expression="Parameters.parameter"
        )
    found = given.get("resource", {}).get("resource")
    if not isinstance(found, dict) or not isinstance(found.get("resourceType"), str):
        raise InvalidParameters("The parameter resource is required.", issue_type="required", expression="Parameters")
    return found
