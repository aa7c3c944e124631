"""Jobs as clients read them."""

from typing import Any

from django.db.models import Q
from rest_framework import serializers

from api.representations import Document, Representation
from organizations.models import Job


class JobProgressOut(Representation):
    """How much of the work is done; `total` is null while it is not known."""

    class Meta:
        model = Job
        fields = ("done", "total")


class JobResultOut(Representation):
    """Where the result is."""

    href = serializers.CharField(source="result_href")

    class Meta:
        model = Job
        fields = ("href",)


class JobErrorOut(serializers.Serializer[Any]):
    """Why the job failed."""

    code = serializers.CharField()
    message = serializers.CharField()


class JobOut(Representation):
    """State and progress of work that a request started."""

    progress = JobProgressOut(source="*")
    result = JobResultOut(when=~Q(result_href=""))
    error = Document(JobErrorOut())

    class Meta:
        model = Job
        fields = (
            "id", "kind", "state", "progress", "result", "error", "created_at", "started_at", "finished_at", "updated_at",
        )  # fmt: skip
