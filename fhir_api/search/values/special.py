"""`near`: Locations within a distance of a point. Source: R4 location.html#search."""

import math

from fhir_api.search.conditions import POSITIONS, Condition, Listed, Test
from fhir_api.search.parse import Leaf, split
from fhir_api.search.refusals import unsupported_modifier, wrong_value

from .context import Context

_KILOMETRES = {"km": 1.0, "m": 0.001, "mi": 1.609344, "[mi_i]": 1.609344, "[mi_us]": 1.609347}
_USUAL_KILOMETRES = "10"
_DIAMETER = 12_742.0176
_DEGREE_KILOMETRES = 110.5  # a little less than a degree of latitude anywhere
_HAVERSINE = (
    f"{_DIAMETER} * asin(least(1, sqrt(power(sin(radians({{row}}.latitude - {{}}) / 2), 2)"
    " + cos(radians({})) * cos(radians({row}.latitude)) * power(sin(radians({row}.longitude - {}) / 2), 2)))) <= {}"
)


def condition(leaf: Leaf, _context: Context) -> Condition:
    """The condition of `near`; another special parameter is not offered."""
    if leaf.modifier or leaf.parameter.code != "near":
        raise unsupported_modifier(leaf.parameter.code, leaf.modifier)
    return Listed(POSITIONS, tuple((None, _near(value)) for value in leaf.values))


def _near(value: str) -> Test:
    parts = split(value, "|")
    if not 2 <= len(parts) <= 4:
        raise _wrong()
    latitude, longitude, distance = _numbers([*parts[:2], parts[2] if len(parts) > 2 else _USUAL_KILOMETRES])
    unit = parts[3] if len(parts) == 4 and parts[3] else "km"
    if unit not in _KILOMETRES or abs(latitude) > 90 or abs(longitude) > 180 or distance < 0:
        raise _wrong()
    kilometres = distance * _KILOMETRES[unit]
    degrees = kilometres / _DEGREE_KILOMETRES
    bounds = (latitude - degrees, latitude + degrees, latitude, latitude, longitude, kilometres)
    sql = f"{{row}}.latitude >= {{}} AND {{row}}.latitude <= {{}} AND {_HAVERSINE}"
    return Test(sql, tuple((repr(bound), "float8") for bound in bounds))


def _numbers(parts: list[str]) -> list[float]:
    try:
        found = [float(part) for part in parts]
    except ValueError:
        raise _wrong() from None
    if not all(math.isfinite(number) for number in found):
        raise _wrong()
    return found


def _wrong() -> Exception:
    return wrong_value("near", "latitude|longitude|distance|unit, the unit km, m or [mi_i]")
