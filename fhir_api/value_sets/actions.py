"""Keeping and forgetting a tenant's value sets."""

from datetime import datetime
from uuid import UUID

import orjson
from django.db.models import F

from core.db import needs_transaction

from .documents import Document
from .models import ValueSet


@needs_transaction
def keep(tenant_id: UUID, document: Document, *, at: datetime) -> bool:
    """Keep a value set, in the place of the one of the same address and version; tell whether it is new."""
    values = {
        "title": document.title,
        "codes": orjson.dumps(document.codes).decode(),
        "count": document.count,
        "updated_at": at,
    }
    _, made = ValueSet.objects.update_or_create(
        tenant_id=tenant_id,
        url=document.url,
        set_version=document.version,
        defaults={**values, "version": F("version") + 1},
        create_defaults=values,
    )
    return made


@needs_transaction
def forget(tenant_id: UUID, address: str) -> int:
    """Forget a value set, in all its versions unless the address names one (`…|2.1`); tell how many that were."""
    url, bar, version = address.partition("|")
    found = ValueSet.objects.filter(tenant_id=tenant_id, url=url)
    gone, _ = (found.filter(set_version=version) if bar else found).delete()
    return gone
