"""HTTP of recurring treatments."""

from typing import ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.operations import Operation
from core.errors import InvalidFields, InvalidTransition, VersionConflict
from fhir_api.public import PatientNotFound
from organizations.public import LocationNotFound
from prescriptions.lifecycle.refusals import TemplateNotFound
from prescriptions.lifecycle.views import PrescriptionsViewSet

from .actions import change_treatment, create_treatment, end_treatment, pause_treatment, resume_treatment
from .filters import RecurringTreatmentFilters
from .queries import OwnTreatment, RecurringNotPermitted
from .representations import RecurringTreatmentOut
from .serializers import RecurringTreatmentChange, RecurringTreatmentIn

_REFERS = (InvalidFields, PatientNotFound, TemplateNotFound, LocationNotFound)
_MOVES = (RecurringNotPermitted, InvalidTransition)


class RecurringTreatmentViewSet(PrescriptionsViewSet):
    """Treatments that go on: for each date on which a prescription is due a draft is made, and nothing is signed."""

    serializer_class = RecurringTreatmentOut
    filterset_class = RecurringTreatmentFilters
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation("List recurring treatments"),
        "create": Operation(
            "Begin a recurring treatment",
            "Give items or a template_id. Occurrences that were due before today are skipped.",
            body=RecurringTreatmentIn,
            run=create_treatment,
            errors=_REFERS,
        ),
        "retrieve": Operation("Get a recurring treatment"),
        "partial_update": Operation(
            "Change a recurring treatment",
            "Another interval counts from the next occurrence on. The start may be changed while no draft was made. Items "
            "replace the template, and a template the items.",
            body=RecurringTreatmentChange,
            find=OwnTreatment(),
            run=change_treatment,
            errors=(*_MOVES, VersionConflict, *_REFERS),
        ),
        "pause": Operation("Pause a recurring treatment", find=OwnTreatment(), run=pause_treatment, errors=_MOVES),
        "resume": Operation(
            "Resume a recurring treatment",
            "Occurrences that were due before today are skipped.",
            find=OwnTreatment(),
            run=resume_treatment,
            errors=_MOVES,
        ),
        "end": Operation(
            "End a recurring treatment",
            "For good; drafts that were made stay.",
            find=OwnTreatment(),
            run=end_treatment,
            errors=_MOVES,
        ),
    }

    @action(detail=True, methods=["post"])
    def pause(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Make no drafts for the time being."""
        return self.write()

    @action(detail=True, methods=["post"])
    def resume(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Make drafts again."""
        return self.write()

    @action(detail=True, methods=["post"])
    def end(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """End the treatment."""
        return self.write()
