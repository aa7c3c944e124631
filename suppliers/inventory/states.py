"""The states of lots and reservations, and the choices of their fields. Source: contract, supply-shelf.md 4 and 7."""

from django.db.models import TextChoices


class LotStatus(TextChoices):
    """Whether a lot may be sold."""

    RELEASED = "released"
    QUARANTINED = "quarantined"
    RECALLED = "recalled"


class ReservationKind(TextChoices):
    """`soft` ends by itself, `hard` with the order that it was made for."""

    SOFT = "soft"
    HARD = "hard"


class ReservationStatus(TextChoices):
    """What became of a reservation; all but `active` are final."""

    ACTIVE = "active"
    CONSUMED = "consumed"
    RELEASED = "released"
    EXPIRED = "expired"
    BROKEN = "broken"


class Unit(TextChoices):
    """What a quantity counts: packs of a packaging, or base units of the product."""

    PACK = "pack"
    BASE = "base"
