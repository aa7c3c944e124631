"""The platform's way out, under the name that this app's rooms know; the guard itself is `core.egress`."""

from core.egress import (
    LONGEST_URL,
    Answer,
    BlockedDestination,
    Egress,
    check_url,
    look_up,
    rules,
    way_out,
)

__all__ = [
    "LONGEST_URL",
    "Answer",
    "BlockedDestination",
    "Egress",
    "check_url",
    "look_up",
    "rules",
    "way_out",
]
