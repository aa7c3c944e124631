"""The endpoint of jobs."""

from collections.abc import Sequence

from api.filters import Condition
from api.operations import Operation
from api.views import ApiViewSet
from organizations.representations.jobs import JobOut


class JobViewSet(ApiViewSet):
    """The caller's jobs."""

    family = "platform"
    serializer_class = JobOut
    operations = {
        "retrieve": Operation(
            "Get a job",
            "The state and progress of work that a request of the caller started. No scope is needed, since only the "
            "caller can read the job.",
            scope="",
        ),
    }

    def restrictions(self) -> Sequence[Condition]:
        """Keep the jobs that the caller started."""
        return (Condition('t."started_by" = {0}', (str(self.subject.id),)),)
