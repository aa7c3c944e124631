"""Reports as the API answers them."""

from typing import Any

from django.db.models import Q
from rest_framework import serializers

from api.representations import Computed, Document, OpenChoice, Representation

from .models import Report
from .serializers import ReportIn, ReportParametersIn
from .states import FILE_TOO_LARGE, GAVE_UP, STORAGE_EXCEEDED, Format, ReportStatus, ReportType


class ReportErrorOut(Representation):
    """Why a report has no file."""

    code = OpenChoice(choices=(FILE_TOO_LARGE, STORAGE_EXCEEDED, GAVE_UP), source="error")

    class Meta:
        model = Report
        fields = ("code",)


class ReportOut(Representation):
    """A report and how far it is; its file is read at `/v1/files/{id}`."""

    type = OpenChoice(choices=ReportType.choices)
    format = OpenChoice(choices=Format.choices)
    status = OpenChoice(choices=ReportStatus.choices)
    parameters = Document(ReportParametersIn())
    rows = Computed(
        "CASE WHEN t.status IN ('ready', 'expired') THEN t.rows_done END",
        serializers.IntegerField(allow_null=True, help_text="How many rows the file has."),
    )
    error = ReportErrorOut(source="*", when=Q(status=ReportStatus.FAILED.value))

    class Meta:
        model = Report
        fields = (
            "id", "type", "parameters", "format", "status", "as_of", "rows_done", "rows_total", "rows", "file_id", "error",
            "started_at", "finished_at", "expires_at", "created_at", "updated_at", "version",
        )  # fmt: skip
        extra_kwargs: Any = {
            "as_of": {"help_text": "The time of all rows; of prices it is when they were read."},
            "rows_done": {"help_text": "How many rows were read so far."},
            "rows_total": {"help_text": "How many there are; null as long as that is not known."},
            "expires_at": {"help_text": "When the file goes."},
        }
        unversioned = "t.rows_done::text || coalesce('/' || t.rows_total, '')"
        example = {**ReportIn.Meta.example, "status": "ready", "rows_done": 1_204, "rows_total": 1_204, "rows": 1_204}
