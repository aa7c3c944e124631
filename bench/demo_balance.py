"""What both parties of the invoice story in `./dev demo` read of an invoice."""

from typing import Any

from bench.demo_http import Caller, DemoFailed, expect
from bench.demo_order_goods import Story

PATH = "/v1/procurement/invoices"


def read(caller: Caller, key: str, status: int = 200) -> dict[str, Any]:
    """Read an invoice; return it, or the refusal."""
    found: dict[str, Any] = expect(caller.call("GET", f"{PATH}/{key}"), status, "read the invoice")
    return found.get("data") or found


def hold(story: Story, name: str, status: str, **amounts: str) -> None:
    """Hold the state and amounts of an invoice that both parties read.

    :raises DemoFailed: one of them reads something else.
    """
    for caller, who in ((story.finance, "hospital"), (story.supplier, "supplier")):
        seen = read(caller, story.bills[name])
        found = {one: seen[one] for one in amounts}
        if (seen["status"], found) != (status, amounts):
            raise DemoFailed(f"the {who} reads of the invoice of {name}: {seen['status']}, {found}, not {amounts}")
