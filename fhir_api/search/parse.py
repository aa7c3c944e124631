"""Query strings into criteria: names with modifiers and chains, values with their alternatives. Source: R4 search.html."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from fhir_api.definitions.parameters import Parameter, parameter
from fhir_api.resources.types import NUMBERS

from .refusals import InvalidSearch, UnknownSearchParameter, UnsupportedSearch, unknown, unsupported_modifier

Pair = tuple[str, str]
Readable = Callable[[str], bool]

LONGEST_VALUE = 8_000
MOST_PARAMETERS = 100
MOST_ALTERNATIVES = 500
MOST_CONTAINED = 50  # each looks through the names of all resources that share its rarest part
DEEPEST = 6
_ESCAPED = re.compile(r"\\([,|$\\])")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A parameter of the type itself; `values` are alternatives with their escapes still in."""

    parameter: Parameter
    modifier: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """A parameter of the types that a reference leads to; each type has its own criterion."""

    parameter: Parameter
    ends: tuple[tuple[str, "Criterion"], ...]


@dataclass(frozen=True, slots=True)
class Reverse:
    """A parameter of resources that refer here by another one (`_has`)."""

    parameter: Parameter
    criterion: "Criterion"


Criterion = Leaf | Chain | Reverse


def read_pairs(query: str | bytes) -> list[Pair]:
    """The names and values of a query string or of a form, those with an empty value left out.

    :raises InvalidSearch: bytes that are not UTF-8, a NUL, or more than is read.
    """
    try:
        text = query if isinstance(query, str) else query.decode()
        if text.count("&") >= MOST_PARAMETERS:  # before they are taken apart
            raise _too_many()
        pairs = parse_qsl(text, errors="strict")
    except ValueError:
        raise InvalidSearch("The query string cannot be read.") from None
    return checked_pairs(pairs)


def checked_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs that were read elsewhere, under the same bounds."""
    found = [(name, value) for name, value in pairs if name and value]
    if len(found) > MOST_PARAMETERS:
        raise _too_many()
    for name, value in found:
        if len(name) > 500 or len(value) > LONGEST_VALUE or "\0" in name or "\0" in value:
            raise InvalidSearch(f"A parameter's value has at most {LONGEST_VALUE} characters, and no NUL.")
    return found


def _too_many() -> InvalidSearch:
    return InvalidSearch(f"A search has at most {MOST_PARAMETERS} parameters; no more are read.")


def criterion(type_name: str, name: str, value: str, *, readable: Readable = NUMBERS.__contains__) -> Criterion | None:
    """The criterion that a pair states of a type; None where nothing is asked (only commas).

    :raises UnknownSearchParameter: the type, or each type at a chain's end, has no such parameter.
    :raises UnsupportedSearch: a modifier; within a chain, of each type that has the parameter.
    :raises InvalidSearch: the form of the name.
    """
    values = tuple(part for part in split(value, ",") if part)
    if len(values) > MOST_ALTERNATIVES:
        raise InvalidSearch(f"A parameter has at most {MOST_ALTERNATIVES} alternatives.")
    return _criterion(type_name, name, values, readable, DEEPEST) if values else None


def leaves(criterion: Criterion) -> list[Leaf]:
    """What a criterion asks in the end, at the far side of its chains too."""
    match criterion:
        case Leaf():
            return [criterion]
        case Chain(ends=ends):
            return [leaf for _, end in ends for leaf in leaves(end)]
        case Reverse(criterion=inner):
            return leaves(inner)


def value_sets(pairs: Iterable[Pair]) -> list[str]:
    """The addresses of value sets that pairs name, chained or not.

    :raises InvalidSearch: as `checked_pairs`.
    """
    named = (value for name, value in checked_pairs(pairs) if name.endswith((":in", ":not-in")))
    return list(dict.fromkeys(plain(one) for value in named for one in split(value, ",")[:MOST_ALTERNATIVES] if one))


def alternatives_of(pairs: Iterable[Pair]) -> int:
    """How many alternatives a search asks for at most, in all of its parameters."""
    return sum(value.count(",") + 1 for _, value in pairs)


def split(text: str, separator: str) -> list[str]:
    """Split at a separator that is not escaped; escapes stay."""
    if "\\" not in text:
        return text.split(separator)
    parts, part, escaped = [], "", False
    for character in text:
        if character == separator and not escaped:
            parts.append(part)
            part = ""
            continue
        part += character
        escaped = character == "\\" and not escaped
    return [*parts, part]


def plain(text: str) -> str:
    r"""A value without its escapes: `\,` `\|` `\$` and `\\`. Source: R4 search.html#escaping."""
    return _ESCAPED.sub(r"\1", text)


def _criterion(type_name: str, name: str, values: tuple[str, ...], readable: Readable, depth: int) -> Criterion:
    if not depth:
        raise InvalidSearch(f"A chain has at most {DEEPEST} steps.")
    if name.startswith("_has:"):
        return _reverse(type_name, name, values, readable, depth)
    head, dot, rest = name.partition(".")
    code, _, modifier = head.partition(":")
    found = parameter(type_name, code)
    if found is None:
        raise unknown(code, type_name)
    if dot:
        return _chain(found, modifier, rest, (values, readable, depth))
    if modifier == "contains" and len(values) > MOST_CONTAINED:
        raise InvalidSearch(f"A parameter with :contains has at most {MOST_CONTAINED} alternatives.")
    return Leaf(found, modifier, values)


def _chain(found: Parameter, modifier: str, rest: str, asked: tuple[tuple[str, ...], Readable, int]) -> Chain:
    values, readable, depth = asked
    if found.kind != "reference":
        raise InvalidSearch(f"The search parameter '{found.code}' is no reference, so that it cannot be chained.")
    ends: list[tuple[str, Criterion]] = []
    refused: list[UnknownSearchParameter | UnsupportedSearch] = []
    for target in _targets(found, modifier):
        if not readable(target):
            continue
        try:
            ends.append((target, _criterion(target, rest, values, readable, depth - 1)))
        except (UnknownSearchParameter, UnsupportedSearch) as error:
            refused.append(error)
    if not ends and refused:
        raise next((one for one in refused if isinstance(one, UnsupportedSearch)), refused[0])
    return Chain(found, tuple(ends))


def _targets(found: Parameter, modifier: str) -> Sequence[str]:
    """The types a reference may lead to, or the one that `:Type` names.

    :raises UnsupportedSearch: it cannot lead to that one.
    """
    types = [name for name in NUMBERS if not found.targets or name in found.targets]
    if modifier and modifier not in types:
        raise unsupported_modifier(found.code, modifier)
    return [modifier] if modifier else types


def _reverse(type_name: str, name: str, values: tuple[str, ...], readable: Readable, depth: int) -> Reverse:
    parts = name.split(":", 3)
    if len(parts) < 4 or not parts[3]:
        raise InvalidSearch("_has is written as _has:Type:reference:parameter.")
    _, referring, code, rest = parts
    if referring not in NUMBERS or not readable(referring):
        raise unknown(f"_has:{referring}", type_name)
    found = parameter(referring, code)
    if found is None or found.kind != "reference":
        raise unknown(f"_has:{referring}:{code}", type_name)
    return Reverse(found, _criterion(referring, rest, values, readable, depth - 1))
