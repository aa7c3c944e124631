"""What both parties of a story in `./dev demo` are told by webhooks: awaited, with the signature of each that arrives."""

from collections.abc import Mapping
from typing import Any

from bench.demo_http import DemoFailed, wait_until
from bench.receiver import Receiver

# The tenant that is told, the type of the event, and the id of what it is about.
Wanted = tuple[str, str, str]


def hear(receiver: Receiver, wanted: set[Wanted], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Wait until all that is wanted has arrived, and return every event that has; `names` are those of the tenants.

    :raises DemoFailed: something is missing, or a signature does not verify.
    """
    missing: list[tuple[str, str]] = []

    def is_complete() -> bool:
        arrivals = list(receiver.received)
        if not all(one.verified_by(receiver.secrets) for one in arrivals):
            raise DemoFailed("a signature does not verify")
        events = [one.event() for one in arrivals]
        told = {(one["tenant_id"], one["type"], one["data"]["object"]["id"]) for one in events}
        missing[:] = sorted({(kind, names[of]) for of, kind, _ in wanted - told})
        return not missing

    try:
        wait_until(is_complete, "the webhooks of both parties")
    except DemoFailed as error:
        raise DemoFailed(f"{error}: {missing}") from error
    return [one.event() for one in receiver.received]
