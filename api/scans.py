"""Labels that are scanned in place of members of a line. Source: contract, supply.md 4 "Scans"."""

from collections.abc import Collection, Mapping
from typing import Any

from core import clock, gs1
from core.identifiers import gtin14

from .serializers import refusal


def read_scan(attrs: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the members of a line with those of its `scan`; `known` are the members that the line may have of it.

    A serial number becomes `serial_numbers`, where the line has these.

    :raises serializers.ValidationError: `invalid_scan`: the text is no element string, or contradicts a member.
    """
    if not attrs.get("scan"):
        return attrs
    try:
        found: Mapping[str, Any] = gs1.parse(attrs["scan"], today=clock.now().date())
    except gs1.InvalidScan as error:
        raise refusal("scan", str(error), "invalid_scan") from error
    for name in known:
        given = attrs.get(name)
        if name in found and given and given != found[name] and not (name == "gtin" and gtin14(given) == found[name]):
            raise refusal("scan", f"The scan says {name} {found[name]}, the line another.", "invalid_scan")
    read = {**attrs, **{name: found[name] for name in known if name in found}}
    if "serial_number" in found and "serial_numbers" in attrs:
        if attrs["serial_numbers"] not in ([], [found["serial_number"]]):
            raise refusal("scan", f"The scan says serial number {found['serial_number']}.", "invalid_scan")
        read["serial_numbers"] = [found["serial_number"]]
    return read
