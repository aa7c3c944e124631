"""What lists of replays can be narrowed by."""

from api.filters import Filters
from webhooks.models import Replay


class ReplayFilters(Filters):
    """By state."""

    class Meta:
        model = Replay
        fields = ("state",)
