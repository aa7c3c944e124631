"""Idempotency records are deleted after a week."""

from datetime import timedelta

import pytest

from api.models import IdempotencyRecord
from api.tasks import forget_keys
from core import clock
from core.db import tenant_context
from core.ids import uuid7
from tests import factories

pytestmark = pytest.mark.usefixtures("each_number_of_lanes")


def test_records_older_than_a_week_are_deleted_and_younger_ones_stay():
    tenant = factories.provision()
    with tenant_context(tenant.id):
        for key, days in (("old", 8), ("young", 6)):
            IdempotencyRecord.objects.create(
                tenant_id=tenant.id,
                subject_id=uuid7(),
                key=key,
                fingerprint="0" * 64,
                created_at=clock.now() - timedelta(days=days),
            )
    assert forget_keys() >= 1
    with tenant_context(tenant.id):
        assert list(IdempotencyRecord.objects.filter(tenant_id=tenant.id).values_list("key", flat=True)) == ["young"]
