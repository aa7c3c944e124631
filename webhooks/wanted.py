"""Which event goes to which endpoint, as SQL: the fan-out, replays and lists of deliveries say it with the same words."""

from typing import Final

# `patterns.matches` says the same in Python; a test holds the two together.
MATCHES: Final = (
    "EXISTS (SELECT 1 FROM unnest({patterns}) pattern WHERE pattern = '*' OR pattern = {type}"
    " OR (right(pattern, 2) = '.*' AND starts_with({type}, left(pattern, -1))))"
)

# A delivery is known by what it is: so it has its id before the fan-out has queued it, and cannot be made twice.
DELIVERY_ID: Final = "md5({event}::text || {endpoint}::text)::uuid"
