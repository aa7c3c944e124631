"""States of promotions."""

from django.db import models


class PromotionState(models.TextChoices):
    """What a promotion is now: from its status, its window and its limits."""

    DRAFT = "draft", "Draft"
    SCHEDULED = "scheduled", "Scheduled"
    RUNNING = "running", "Running"
    EXHAUSTED = "exhausted", "Exhausted"
    ENDED = "ended", "Ended"
    ARCHIVED = "archived", "Archived"


class Told(models.TextChoices):
    """What was last told of a promotion's course: it is still to begin, it runs, or it does not run any more."""

    WAITING = "waiting", "Not begun"
    RUNNING = "running", "Running"
    OVER = "over", "Not running"
