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


class EntriesMode(models.TextChoices):
    """What happens to the entries that a body does not name."""

    REPLACE = "replace", "They are taken out"
    MERGE = "merge", "They stay"
