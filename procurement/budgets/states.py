"""Choices of budgets."""

from django.db import models


class Enforcement(models.TextChoices):
    """What happens to an order that goes beyond the budget."""

    HARD = "hard", "It is refused"
    WARN = "warn", "It goes on, and the buyer is told"
