"""Tokens: codes, codings, identifiers, contact points, booleans. Source: R4 search.html#token."""

from fhir_api import terminology
from fhir_api.keys import code_form, code_key, of_type_key, system_code_form, system_code_key, system_key, text_key
from fhir_api.search.conditions import STRINGS, Condition, Keyed, Listed, Neither
from fhir_api.search.parse import Leaf, plain, split
from fhir_api.search.refusals import UnknownCodeSystem, UnknownValueSet, unsupported_modifier, wrong_value
from fhir_api.value_sets.models import MOST_CODES

from .context import Context
from .string import starts_with

_BOOLEAN = frozenset({"active", "deceased"})
_WITHOUT_SYSTEM = _BOOLEAN | {"email", "phone", "telecom"}
_RARE = frozenset({"identifier"})
_NO_CODES = _WITHOUT_SYSTEM | _RARE


def condition(leaf: Leaf, context: Context) -> Condition:
    """The condition of a token parameter; `:not` is met where the element is absent too."""
    match leaf.modifier:
        case "":
            return _any(leaf)
        case "not":
            return Neither((_any(leaf),))
        case "text":
            key = text_key(leaf.parameter.number)
            return Listed(STRINGS, tuple((key, starts_with(leaf.parameter.code, value)) for value in leaf.values))
        case "in":
            return Keyed(_in(leaf, context))
        case "not-in":
            return Neither((Keyed(_in(leaf, context)),))
        case "above" | "below" if leaf.parameter.code not in _NO_CODES:
            return Keyed(_subsuming(leaf))
        case "of-type" if leaf.parameter.code == "identifier":
            return Keyed(tuple(_of_type(leaf, value) for value in leaf.values), rare=True)
    raise unsupported_modifier(leaf.parameter.code, leaf.modifier)


def form(name: str, value: str) -> str:
    """The form of a token that is a part of a key: `code`, `system|code` or `|code`.

    :raises InvalidSearch: any other.
    """
    system, code = parts(name, value)
    if not code:
        raise wrong_value(name, "code, system|code or |code")
    return code_form(code) if system is None else system_code_form(system, code)


def _any(leaf: Leaf) -> Keyed:
    keys = tuple(_key(leaf, value) for value in leaf.values)
    complete = not any(value.endswith("|") for value in leaf.values)
    return Keyed(keys, rare=complete and leaf.parameter.code in _RARE)


def _in(leaf: Leaf, context: Context) -> tuple[int, ...]:
    """The keys of all codes of value sets. Source: R4 search.html#token, `:in` and `:not-in`.

    :raises UnknownValueSet: one of them is neither among the small ones of R4's bindings nor among the tenant's own.
    :raises InvalidSearch: together they have too many codes.
    """
    name, number = leaf.parameter.code, leaf.parameter.number
    if name in _NO_CODES:
        raise unsupported_modifier(name, leaf.modifier)
    keys: dict[int, None] = {}
    for value in leaf.values:
        address = plain(value)
        codes = context.value_sets.get(address) or terminology.members(address)
        if codes is None:
            text = f"The value set of '{name}:{leaf.modifier}' is neither one of R4's small ones nor one of the tenant's own."
            raise UnknownValueSet(text, issue_type="not-found")
        keys.update((system_code_key(number, *code), None) for code in codes)
        if len(keys) > MOST_CODES:
            raise wrong_value(f"{name}:{leaf.modifier}", f"value sets of together at most {MOST_CODES:,} codes")
    return tuple(keys)


def _subsuming(leaf: Leaf) -> tuple[int, ...]:
    """The keys of codes that subsume those asked for (`:above`) or are subsumed by them (`:below`).

    :raises UnknownCodeSystem: a code is of no code system that is known whole.
    """
    name, number = f"{leaf.parameter.code}:{leaf.modifier}", leaf.parameter.number
    related = terminology.above if leaf.modifier == "above" else terminology.below
    keys: dict[int, None] = {}
    for value in leaf.values:
        system, code = parts(name, value)
        if not system or not code:
            raise wrong_value(name, "system|code")
        codes = related((system, code))
        if codes is None:
            raise UnknownCodeSystem(
                f"The code of '{name}' has no known place in a code system.", issue_type="not-found"
            )
        keys.update((system_code_key(number, *one), None) for one in codes)
    return tuple(keys)


def _key(leaf: Leaf, value: str) -> int:
    name, number = leaf.parameter.code, leaf.parameter.number
    system, code = parts(name, value)
    if system is not None and name in _WITHOUT_SYSTEM:
        raise wrong_value(name, "no | here, as the element has no system")
    if name in _BOOLEAN and code not in ("true", "false"):
        raise wrong_value(name, "true or false")
    if system is None:
        return code_key(number, code)
    if code:
        return system_code_key(number, system, code)
    if not system:
        raise wrong_value(name, "code, system|code, |code or system|")
    return system_key(number, system)


def parts(name: str, value: str) -> tuple[str | None, str]:
    """System (None: not said, "": has none) and code."""
    parts = [plain(part) for part in split(value, "|")]
    if len(parts) > 2:
        raise wrong_value(name, "code, system|code, |code or system|; a | inside is written \\|")
    return (None, parts[0]) if len(parts) == 1 else (parts[0], parts[1])


def _of_type(leaf: Leaf, value: str) -> int:
    parts = [plain(part) for part in split(value, "|")]
    if len(parts) != 3 or not all(parts):
        raise wrong_value(f"{leaf.parameter.code}:of-type", "system|code|value, all three")
    return of_type_key(leaf.parameter.number, parts[0], parts[1], parts[2])
