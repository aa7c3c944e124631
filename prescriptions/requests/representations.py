"""Requests as owner and pharmacy read them."""

from django.db.models import Q
from rest_framework import serializers

from api.received_copies import received
from api.representations import BlankAsNull, Document, Representation
from prescriptions.states import RequestStatus

from .models import PrescriptionRequest, ReceivedRequest
from .serializers import ProposedIn

_ANSWERED = ~Q(status__in=[RequestStatus.OPEN.value, RequestStatus.CLOSED.value])


class AnswerOut(Representation):
    """What the prescriber answered."""

    reason_code = BlankAsNull(source="answer_reason_code", allow_null=True)
    note = BlankAsNull(source="answer_note", allow_null=True)

    class Meta:
        model = PrescriptionRequest
        fields = ("reason_code", "note")


class RequestOut(Representation):
    """What a pharmacy asks of the prescriber, and the answer."""

    item_id = serializers.UUIDField(allow_null=True)
    proposed = Document(ProposedIn(allow_null=True))
    answer = AnswerOut(when=_ANSWERED)
    created_by = serializers.UUIDField(source="asked_by")

    class Meta:
        model = PrescriptionRequest
        name = "request"
        fields = (
            "id", "tenant_id", "prescription_id", "item_id", "kind", "text", "proposed", "status", "prescriber_id",
            "pharmacy_location_id", "follow_ups", "answered_at", "answered_by", "answer", "draft_prescription_id",
            "version", "created_at", "updated_at", "created_by",
        )  # fmt: skip
        blank_as_null = ("text", "prescriber_id")


ReceivedRequestOut = received("ReceivedRequestOut", RequestOut, ReceivedRequest, name="request")
