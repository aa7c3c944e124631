"""The states of offers and the choices of their fields. Source: contract, supply-shelf.md "Marketplace"."""

from django.db.models import TextChoices


class OfferStatus(TextChoices):
    """The status of an offer; `archived` is final."""

    DRAFT = "draft"
    PUBLISHED = "published"
    PAUSED = "paused"
    EXPIRED = "expired"
    ARCHIVED = "archived"


class StockPolicy(TextChoices):
    """Where the quantity that can be promised comes from."""

    LIVE = "live"
    FIXED = "fixed"
    MADE_TO_ORDER = "made_to_order"


class StockDisplay(TextChoices):
    """How a buyer is told of a number of packs in stock."""

    EXACT = "exact"
    CAPPED = "capped"
    BAND = "band"
    HIDDEN = "hidden"


class VisibilityMode(TextChoices):
    """Who may see an offer."""

    PUBLIC = "public"
    SELECTED = "selected"
    PRIVATE = "private"


LIVE = (OfferStatus.PUBLISHED.value, OfferStatus.PAUSED.value)
EVERYBODY = "00000000-0000-0000-0000-000000000000"  # the audience of a public offer
