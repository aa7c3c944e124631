"""Approvals as the buyer reads them with an order; the supplier never does."""

from typing import Final

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import Computed, OpenChoice
from core.conditions import TENANT
from suppliers.public import EMBEDDED

from .states import Decision, Purpose

_SQL: Final = (
    "SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM (SELECT a.revision, a.approval_for, a.step, a.decision,"
    " json_build_object('id', a.approver_id) AS approver,"
    " CASE WHEN a.delegated_by_id IS NOT NULL THEN json_build_object('id', a.delegated_by_id) END AS delegated_by,"
    f" nullif(a.note, '') AS note, a.credential, {INSTANT.format('a.at')} AS at"
    f" FROM procurement_approval a WHERE a.tenant_id = {TENANT} AND a.order_id = t.id"
    f" ORDER BY a.at DESC, a.id DESC LIMIT {EMBEDDED}) r"
)


class PersonOut(serializers.Serializer[None]):
    """A member of the buyer."""

    id = serializers.UUIDField()


class ApprovalOut(serializers.Serializer[None]):
    """What an approver has decided about a revision of an order; one of an earlier revision counts no more."""

    revision = serializers.IntegerField()
    approval_for = OpenChoice(choices=Purpose.choices)
    step = serializers.IntegerField(help_text="Counts the decisions about the revision.")
    decision = OpenChoice(choices=Decision.choices)
    approver = PersonOut()
    delegated_by = PersonOut(allow_null=True, help_text="In whose place; both together are one approver.")
    note = serializers.CharField(allow_null=True)
    credential = serializers.CharField()
    at = serializers.DateTimeField()


def approvals_of_order() -> Computed:
    """Return the member of an order `t` that has its newest approvals."""
    return Computed(_SQL, ApprovalOut(many=True))
