"""HTTP of jobs: state and progress of what the caller started."""

from typing import ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.filters import Condition
from api.operations import Operation
from api.views import ApiViewSet
from core.errors import NotFound
from organizations.shapes.jobs import JOB


class JobViewSet(ApiViewSet):
    """Jobs of the caller."""

    family = "platform"
    operations: ClassVar = {
        "retrieve": Operation(
            scope="",
            summary="Get a job",
            description="State and progress of work that the caller's own request started; no scope, as nobody else sees it.",
            shape=JOB,
            errors=(NotFound,),
        ),
    }

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer one job that the caller started."""
        return self.retrieve_one(pk, extra=Condition('t."started_by" = {0}', (str(self.subject.id),)))
