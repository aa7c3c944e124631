"""HTTP of jobs: state and progress of what the caller started."""

from collections.abc import Sequence

from api.filters import Condition
from api.operations import Operation
from api.views import ApiViewSet
from organizations.representations.jobs import JobOut


class JobViewSet(ApiViewSet):
    """Jobs of the caller."""

    family = "platform"
    serializer_class = JobOut
    operations = {
        "retrieve": Operation(
            "Get a job",
            "State and progress of work that the caller's own request started. It needs no scope, since nobody else "
            "can read the job.",
            scope="",
        ),
    }

    def restrictions(self) -> Sequence[Condition]:
        """Only jobs that the caller started."""
        return (Condition('t."started_by" = {0}', (str(self.subject.id),)),)
