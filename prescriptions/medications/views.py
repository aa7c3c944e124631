"""HTTP of the tables of medications."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse

from api.operations import Operation
from api.sorts import ORDERING_FIELDS, SortBy
from api.views import ApiViewSet
from core.conditions import Condition
from core.errors import NotFound

from .filters import MedicationFilters
from .representations import MedicationOut
from .systems import BY_NAME

_BY_CODE = replace(MedicationOut.shape, key="code")


class MedicationViewSet(ApiViewSet):
    """The medications of the tenant's and the platform's tables."""

    family = "prescriptions"
    scope_prefix = "prescriptions."
    feature = "prescriptions"
    tag = "Medications"
    serializer_class = MedicationOut
    filterset_class = MedicationFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("display", "display_sort"), "code")
    ordering = "display"
    operations = {
        "list": Operation(
            "List medications",
            "The platform's table with the tenant's own rows, which hide the platform's of the same system and code. "
            "`search` finds beginnings of words of display and code.",
        ),
    }


class MedicationOfSystemViewSet(ApiViewSet):
    """One medication by its code system and code."""

    family = "prescriptions"
    scope_prefix = "prescriptions."
    feature = "prescriptions"
    tag = "Medications"
    serializer_class = MedicationOut
    lookup_url_kwarg = "code"
    lookup_value_converter = "str"
    operations = {
        "retrieve": Operation(
            "Get a medication",
            "`system` is rxnorm, atc, ndc or snomed; medications of other systems are found by the list's filters.",
        ),
    }

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the medication of the system and code in the path.

        :raises NotFound: neither table has it, or the system has no short name.
        """
        system = BY_NAME.get(self.kwargs["system"])
        if system is None:
            self.actor()
            raise NotFound("No such medication.")
        return self.retrieve_one(shape=_BY_CODE, extra=Condition('t."system" = {0}', (system,)))
