"""The life of a delivery: from the event, through its attempts, to an end."""

from typing import Final

CREATED: Final = "created"
PENDING: Final = "pending"
RETRYING: Final = "retrying"
DELIVERED: Final = "delivered"
FAILED: Final = "failed"

ALL: Final = (CREATED, PENDING, RETRYING, DELIVERED, FAILED)
UNFINISHED: Final = (CREATED, PENDING, RETRYING)

TRANSITIONS: Final = {
    CREATED: (PENDING,),
    PENDING: (RETRYING, DELIVERED, FAILED),
    RETRYING: (RETRYING, DELIVERED, FAILED),
    DELIVERED: (),
    FAILED: (RETRYING,),
}
