"""The only writer of the pharmacy directory, which every tenant may search. Source: contract, "Rows of two parties"."""

from datetime import datetime

from core.db import needs_transaction
from core.text_folding import folded

from .models import Location, LocationStatus, PharmacyListing


@needs_transaction
def publish(location: Location, *, at: datetime) -> None:
    """Publish a location in the directory, or remove it if it is not listed, not dispensing or not active."""
    if not (location.listed and location.is_dispensing and location.status == LocationStatus.ACTIVE):
        PharmacyListing.objects.filter(id=location.id).delete()
        return
    shown = {
        "name": location.name,
        "search_text": folded(location.name)[:200],
        "address": location.address,
        "opening_hours": location.opening_hours,
        "updated_at": at,
    }
    PharmacyListing.objects.update_or_create(
        id=location.id,
        defaults=shown,
        create_defaults={**shown, "tenant_id": location.tenant_id, "created_at": at},
    )
