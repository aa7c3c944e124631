"""`$validate`: what the server would say of a resource, without keeping it. Source: R4 resource-operation-validate.html."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse

from fhir_api import answers, integrity, negotiation, smart
from fhir_api.http.refusals import issues_of
from fhir_api.ids import check_id
from fhir_api.intentions import ReferenceNotFound, StillReferenced, Subsetted
from fhir_api.outcomes import ERROR, INFORMATION, Issue, outcome
from fhir_api.reading import WrongType, read_body
from fhir_api.resources import Json
from fhir_api.validation import validate, vital_signs
from fhir_api.writes import is_subsetted
from organizations.public import policies_call, policies_of

from .base import FhirViewSet, check_type, reading
from .parameters import InvalidParameters, parts

MODES: Final = ("create", "update", "delete", "profile")
_DEFINITIONS: Final = "http://hl7.org/fhir/StructureDefinition/"


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked; `mode` "" is of the content alone, `resource` None of a deletion.

    Each of the `profiles` comes with its place in the Parameters, "" where it stood in the query.
    """

    type: str
    fhir_id: str
    resource: Json | None
    mode: str
    profiles: Sequence[tuple[Any, str]]

    @property
    def references(self) -> dict[integrity.Target, str]:
        """The resources of this server that must exist for the write, each with the place of a reference to it."""
        if self.resource is None or self.mode not in ("create", "update"):
            return {}
        own = self.type, (self.fhir_id or self.resource.get("id")) if self.mode == "update" else ""
        found = integrity.references(self.resource).items()
        return {target: place for target, place in found if target[:2] != own}


class ValidateViewSet(FhirViewSet):
    """The operation on the system, a type and an instance; the body is the resource or Parameters that hold it."""

    operations = {"validate": reading("Validate a resource")}
    _policies: Mapping[str, Any]

    def validate(self, request: HttpRequest, type_name: str = "", fhir_id: str = "") -> HttpResponse:
        """Answer every broken rule as an issue; 200 whether there are any or not."""
        _, (rows,) = self.read(lambda tenant_id: [policies_call(tenant_id)])
        self._policies = policies_of(rows)
        question = _read(request, type_name, fhir_id)
        issues = _of_profiles(question)
        if question.resource is not None:
            issues += _of_content(question, question.resource)
            issues += self._of_vital_signs(question, question.resource) if not issues else []
        if not any(issue.severity in (ERROR, "fatal") for issue in issues):
            issues += self._of_deletion(question) if question.resource is None else self._of_references(question)
        text = "The resource may be deleted." if question.resource is None else "The resource is valid."
        told = issues or [Issue("informational", text, severity=INFORMATION)]
        return answers.of_resource(request, outcome(told, request_id=getattr(request, "request_id", "")))

    def _of_vital_signs(self, question: _Question, resource: Json) -> list[Issue]:
        """What breaks the profiles that are asked for, and as the tenant's policy says those that the resource names."""
        asked = [vital_signs.profile_of(profile) for profile, _ in question.profiles]
        policy, named = self._policies["fhir_vital_signs"], vital_signs.profiles_of(resource)
        strict = dict.fromkeys([*filter(None, asked), *(named if policy == "check" else ())])
        issues = vital_signs.judge(resource, strict)
        if policy == "warn":
            others = [one for one in named if one not in strict]
            issues += [issue.warning() for issue in vital_signs.judge(resource, others)]
        return issues

    def _of_references(self, question: _Question) -> list[Issue]:
        """What the write would be refused for; of types that the caller may not read nothing is told."""
        wanted = {
            target: [lambda: question.references]
            for target in question.references
            if self.access.allows(target[0], smart.READ)
        }
        if not wanted:
            return []
        patient = self.access.patient
        _, (rows,) = self.read(lambda tenant_id: [integrity.present_call(tenant_id, wanted, patient=patient)])
        try:
            if self._policies["fhir_reference_integrity"] != "none":
                integrity.check_present(rows, wanted)
        except ReferenceNotFound as refusal:
            return list(issues_of(refusal))
        return []

    def _of_deletion(self, question: _Question) -> list[Issue]:
        """What a deletion would be refused for; it takes the right to delete, as the answer tells who refers."""
        self.access.demand(question.type, smart.DELETE)
        if self.access.patient:
            return [
                Issue("not-supported", "The mode delete is not for one patient's token.", details="unsupported_mode")
            ]
        name = question.type, question.fhir_id
        _, (rows,) = self.read(lambda tenant_id: [integrity.referrers_call(tenant_id, [name])])
        try:
            if self._policies["fhir_reference_integrity"] != "none":
                integrity.check_unreferenced(rows, "", named=self.access == smart.UNNARROWED)
        except StillReferenced as refusal:
            return list(issues_of(refusal))
        return []


def _read(request: HttpRequest, type_name: str, fhir_id: str) -> _Question:
    """Read the question.

    :raises InvalidParameters: a mode, or a resource too many or too few.
    :raises WrongType, UnknownType, InvalidId: the resource or the address.
    """
    if type_name:
        check_type(type_name)
    if fhir_id:
        check_id(fhir_id)
    sent, given = _body(request)
    mode = _mode(_values(request, given, "mode", ("valueCode",)))
    profiles = _values(request, given, "profile", ("valueUri", "valueCanonical"))
    if mode == "delete":
        if not fhir_id:
            raise InvalidParameters("The mode delete is asked of [type]/[id]/$validate.", issue_type="required")
        return _Question(type_name, fhir_id, None, mode, profiles)
    if sent is None:
        raise InvalidParameters("The parameter resource is required.", issue_type="required", expression="Parameters")
    kind = sent["resourceType"]
    if type_name and kind != type_name:
        raise WrongType(f"A {type_name} is expected.", issue_type="value", expression="resourceType")
    return _Question(check_type(kind), fhir_id, sent, mode, profiles)


def _body(request: HttpRequest) -> tuple[Json | None, list[Json]]:
    """The resource, and the Parameters that it came in; a deletion needs neither."""
    if not request.body and request.GET.get("mode") == "delete":
        return None, []
    negotiation.check_content_type(request)
    sent = read_body(request.body, None)
    if sent["resourceType"] != "Parameters":
        return sent, []
    given = parts(sent.get("parameter"))
    return _resource(given), given


def _values(request: HttpRequest, given: Sequence[Json], name: str, kinds: Sequence[str]) -> list[tuple[Any, str]]:
    """The values of a parameter in query and Parameters, each with its place in the latter."""
    found: list[tuple[Any, str]] = [(text, "") for text in request.GET.getlist(name) if text]
    for number, one in enumerate(given):
        if one.get("name") == name:
            value = next((one[kind] for kind in kinds if kind in one), None)
            found.append((value, f"Parameters.parameter[{number}].value"))
    return found


def _mode(asked: Sequence[tuple[Any, str]]) -> str:
    for mode, place in asked:
        if mode not in MODES or mode != asked[0][0]:
            raise InvalidParameters(f"mode is one of {', '.join(MODES)}.", issue_type="value", expression=place)
    return asked[0][0] if asked else ""


def _resource(given: Sequence[Json]) -> Json | None:
    """The resource itself; expressions are told of it, not of the Parameters around it."""
    found = [one.get("resource") for one in given if one.get("name") == "resource"]
    if not found:
        return None
    (first, *others) = found
    if others or not isinstance(first, dict) or not isinstance(first.get("resourceType"), str):
        text = "The parameter resource holds one resource, and there is one of it."
        raise InvalidParameters(text, issue_type="structure", expression="Parameters.parameter")
    return first


def _of_profiles(question: _Question) -> list[Issue]:
    """The profiles that cannot be validated against; to pass over one would call valid what nobody has looked at."""
    known = f"{_DEFINITIONS}{question.type}"
    is_measured = question.type == "Observation" and question.resource is not None
    text = f"The only profile of a {question.type} here is {known}{', beside those of vital signs' if is_measured else ''}."
    return [
        Issue("not-supported", text, place, "unsupported_profile")
        for profile, place in question.profiles
        if profile not in (known, f"{known}|4.0.1") and not (is_measured and vital_signs.profile_of(profile))
    ]


def _of_content(question: _Question, resource: Json) -> list[Issue]:
    found = list(validate(resource))
    if question.fhir_id and resource.get("id") != question.fhir_id:
        text = "The body's id is that of the URL."
        found.insert(0, Issue("value", text, f"{question.type}.id", "id_mismatch"))
    if question.mode in ("create", "update") and is_subsetted(resource):
        found.append(Issue("business-rule", Subsetted.title, f"{question.type}.meta.tag", Subsetted.code))
    return found
