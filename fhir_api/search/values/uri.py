"""URIs: equal, above or below one. Source: R4 search.html#uri."""

from fhir_api.keys import uri_key
from fhir_api.search.conditions import Condition, Either, Keyed, Own, Test
from fhir_api.search.parse import Leaf, plain
from fhir_api.search.refusals import unsupported_modifier

from .context import Context

# Only these two elements are searched as URIs; there is no index by their beginning.
MOST_PARTS = 50
_PLACES = {"_profile": "$.meta.profile[*]", "_source": "$.meta.source"}


def condition(leaf: Leaf, _context: Context) -> Condition:
    """The condition of a URI parameter."""
    values = [plain(value) for value in leaf.values]
    if not leaf.modifier:
        return Keyed(tuple(uri_key(leaf.parameter.number, value) for value in values))
    if leaf.modifier == "below" and leaf.parameter.code in _PLACES:
        return Either(tuple(_below(_PLACES[leaf.parameter.code], value) for value in values))
    if leaf.modifier == "above":
        return Keyed(tuple(uri_key(leaf.parameter.number, one) for value in values for one in _above(value)))
    raise unsupported_modifier(leaf.parameter.code, leaf.modifier)


def _above(value: str) -> list[str]:
    """The URI and those it stands below, by the parts of its path. Source: R4 search.html#uri."""
    begin = value.find("://")
    if begin < 0:
        return [value]  # of URNs R4 says nothing
    parts = value[begin + 3 :].split("/")
    shorter = [value[: begin + 3] + "/".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return [one for text in shorter for one in (text, f"{text}/")][: 2 * MOST_PARTS]


def _below(place: str, value: str) -> Own:
    """The URI, those below it by the parts of its path, its versions and those within the version it names."""
    path = f"{place} ? (@ == $own || @ starts with $path || @ starts with $version)"
    version = f"{value}." if "|" in value else f"{value.rstrip('/')}|"
    wanted = (value, "text"), (value.rstrip("/") + "/", "text"), (version, "text")
    sql = (
        f"jsonb_path_exists({{row}}.body::jsonb, '{path}',"
        " jsonb_build_object('own', {}, 'path', {}, 'version', {}))"
    )
    return Own(Test(sql, wanted))
