"""URIs: equal, or below one. Source: R4 search.html#uri."""

from fhir_api.keys import uri_key
from fhir_api.search.conditions import Condition, Either, Keyed, Own, Test
from fhir_api.search.parse import Leaf, plain
from fhir_api.search.refusals import unsupported_modifier

from .context import Context

# Only these two elements are searched as URIs; there is no index by their beginning.
_PLACES = {"_profile": "$.meta.profile[*]", "_source": "$.meta.source"}


def condition(leaf: Leaf, _context: Context) -> Condition:
    """The condition of a URI parameter."""
    values = [plain(value) for value in leaf.values]
    if not leaf.modifier:
        return Keyed(tuple(uri_key(leaf.parameter.number, value) for value in values))
    if leaf.modifier == "below" and leaf.parameter.code in _PLACES:
        return Either(tuple(_below(_PLACES[leaf.parameter.code], value) for value in values))
    raise unsupported_modifier(leaf.parameter.code, leaf.modifier)


def _below(place: str, value: str) -> Own:
    path = f"{place} ? (@ == $own || @ starts with $below)"
    wanted = (value, "text"), (value.rstrip("/") + "/", "text")
    sql = f"jsonb_path_exists({{row}}.body::jsonb, '{path}', jsonb_build_object('own', {{}}, 'below', {{}}))"
    return Own(Test(sql, wanted))
