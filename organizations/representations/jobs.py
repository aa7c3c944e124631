"""Representations of jobs."""

from typing import Any

from django.db.models import Q
from rest_framework import serializers

from api.representations import Document, Representation
from organizations.models import Job


class JobProgressOut(Representation):
    """The progress of a job; `total` is null while it is not known."""

    class Meta:
        model = Job
        fields = ("done", "total")


class JobResultOut(Representation):
    """The address of the result."""

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
