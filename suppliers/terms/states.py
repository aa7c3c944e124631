"""States and kinds of terms."""

from django.db import models


class TermStatus(models.TextChoices):
    """Whether terms hold: a draft is being written, and archived ends them for good."""

    DRAFT = "draft", "Draft"
    ACTIVE = "active", "Active"
    ARCHIVED = "archived", "Archived"


class Scope(models.TextChoices):
    """Whom a price list is assigned to."""

    PUBLIC = "public", "Everybody"
    TENANTS = "tenants", "Buyers"
    ORGANIZATIONS = "organizations", "Organizations and what is below them"
    GROUPS = "groups", "Groups of the supplier's profile"


class ActionType(models.TextChoices):
    """What a rule does to a unit price."""

    PERCENT = "percent", "So many percent off"
    AMOUNT_OFF = "amount_off", "An amount off"
    FIXED_PRICE = "fixed_price", "Another price"
    MARKUP = "markup", "So many percent on top"


OF_ONE_CURRENCY = (ActionType.AMOUNT_OFF.value, ActionType.FIXED_PRICE.value)


class EntriesMode(models.TextChoices):
    """What happens to the entries that a body does not name."""

    REPLACE = "replace", "They are taken out"
    MERGE = "merge", "They stay"
