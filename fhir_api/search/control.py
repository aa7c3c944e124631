"""Parameters that say how results are given: order, page, total, and how much of each. Source: R4 search.html#results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from fhir_api.definitions.parameters import Parameter, parameter
from fhir_api.resources.types import NUMBERS

from .refusals import InvalidSearch, unknown, unsupported_modifier, wrong_value

USUAL_COUNT: Final = 50
MOST_COUNT: Final = 1_000
MOST_SORTS: Final = 5
MOST_INCLUSIONS: Final = 50
_SUMMARIES: Final = ("true", "text", "data", "count", "false")
_TOTALS: Final = ("none", "estimate", "accurate")
_ONCE: Final = frozenset({"_count", "_summary", "_total"})
EVERYTHING: Final = "*"
_UNSORTED: Final = frozenset({"composite", "special"})


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of the order."""

    parameter: Parameter
    descending: bool


@dataclass(frozen=True, slots=True)
class Inclusion:
    """References to follow: from `source` by `parameter` (None: by all), to `target` ("": to any type).

    Of `_include` the source is at hand and the target is fetched, of `_revinclude` the other way round.
    """

    source: str
    parameter: Parameter | None
    target: str = ""
    iterate: bool = False


@dataclass(slots=True)
class Control:
    """How results are given."""

    sort: list[SortKey] = field(default_factory=list)
    count: int = USUAL_COUNT
    capped: bool = False
    total: str = "none"
    summary: str = "false"
    elements: list[str] = field(default_factory=list)
    includes: list[Inclusion] = field(default_factory=list)
    revincludes: list[Inclusion] = field(default_factory=list)
    once: dict[str, str] = field(default_factory=dict)

    @property
    def only_total(self) -> bool:
        """Whether no entries are wanted. Source: R4 search.html#summary, `_count=0`."""
        return self.summary == "count" or self.count == 0

    @property
    def subsets(self) -> bool:
        """Whether resources are given in part."""
        return bool(self.elements) or self.summary in ("true", "text", "data")


def apply(control: Control, types: tuple[str, ...], name: str, value: str) -> bool:
    """Take one parameter; False if it is not one of these.

    :raises InvalidSearch, UnsupportedSearch: its value or modifier, or it has another value already and can have one only.
    :raises UnknownSearchParameter: what it names is not known.
    """
    base, _, modifier = name.partition(":")
    reader = _READERS.get(base)
    if reader is None:
        return False
    if modifier and not (base in ("_include", "_revinclude") and modifier in ("iterate", "recurse")):
        raise unsupported_modifier(base, modifier)
    if base in _ONCE and control.once.setdefault(base, value) != value:
        raise InvalidSearch(f"{base} is given with two values.", issue_type="value")
    reader(control, types, value, bool(modifier))
    return True


def takes_list(name: str) -> bool:
    """Tell whether a parameter's value is a list with commas: of values to search for, of sort keys, of elements."""
    base = name.partition(":")[0]
    return base not in _READERS or base in ("_sort", "_elements")


def check(control: Control) -> None:
    """Refuse what does not go together.

    :raises InvalidSearch: `_summary=text` with inclusions (R4: servers shall not), or `_summary` with `_elements`.
    """
    if control.summary == "text" and (control.includes or control.revincludes):
        raise InvalidSearch("_summary=text cannot be combined with _include or _revinclude.", issue_type="invalid")


def is_control(name: str) -> bool:
    """Tell whether a parameter says how results are given, rather than which."""
    return name.partition(":")[0] in _READERS


def _count(control: Control, _types: tuple[str, ...], value: str, _iterate: bool) -> None:
    if not (value.isascii() and value.isdigit()):
        raise wrong_value("_count", "a whole number from 0 up")
    wanted = int(value.lstrip("0")[:9] or 0)  # its first nine digits are too many as well
    control.count = min(wanted, MOST_COUNT)
    control.capped = wanted > MOST_COUNT


def _summary(control: Control, _types: tuple[str, ...], value: str, _iterate: bool) -> None:
    control.summary = _one_of("_summary", value, _SUMMARIES)


def _total(control: Control, _types: tuple[str, ...], value: str, _iterate: bool) -> None:
    control.total = _one_of("_total", value, _TOTALS)


def _elements(control: Control, _types: tuple[str, ...], value: str, _iterate: bool) -> None:
    control.elements.extend(part.strip() for part in value.split(",") if part.strip())


def _sort(control: Control, types: tuple[str, ...], value: str, _iterate: bool) -> None:
    """All keys or, where one is unknown, none: the next link holds the parameters that were used, each as a whole."""
    keys = [_sort_key(types, part) for part in filter(None, (part.strip() for part in value.split(",")))]
    if len(control.sort) + len(keys) > MOST_SORTS:
        raise InvalidSearch(f"_sort has at most {MOST_SORTS} keys.")
    control.sort.extend(keys)


def _sort_key(types: tuple[str, ...], part: str) -> SortKey:
    code = part.removeprefix("-")
    found = [parameter(name, code) for name in types]
    if not all(one and one.kind not in _UNSORTED for one in found):
        raise unknown(f"_sort={code}", " and ".join(types) if len(types) < 4 else "all types")
    assert found[0]
    return SortKey(found[0], descending=part != code)


def _include(control: Control, _types: tuple[str, ...], value: str, iterate: bool) -> None:
    _follow(control.includes, _inclusion("_include", value, iterate))


def _revinclude(control: Control, _types: tuple[str, ...], value: str, iterate: bool) -> None:
    _follow(control.revincludes, _inclusion("_revinclude", value, iterate))


def _follow(inclusions: list[Inclusion], one: Inclusion) -> None:
    if one in inclusions:
        return
    if len(inclusions) == MOST_INCLUSIONS:
        raise InvalidSearch(f"A search has at most {MOST_INCLUSIONS} inclusions of each kind.")
    inclusions.append(one)


def _inclusion(name: str, value: str, iterate: bool) -> Inclusion:
    if value == EVERYTHING:
        return Inclusion(EVERYTHING, None, iterate=iterate)
    parts = value.split(":")
    if not 2 <= len(parts) <= 3 or not all(parts):
        raise wrong_value(name, "Type:parameter, Type:parameter:Type or *")
    source, code, target = parts[0], parts[1], parts[2] if len(parts) == 3 else ""
    if code == EVERYTHING and source in NUMBERS:
        return Inclusion(source, None, target, iterate)
    found = parameter(source, code)
    if found is None or found.kind != "reference":
        raise unknown(f"{name}={source}:{code}", source)
    return Inclusion(source, found, target, iterate)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise wrong_value(name, ", ".join(allowed))
    return value


_READERS: Final[dict[str, Callable[[Control, tuple[str, ...], str, bool], None]]] = {
    "_count": _count,
    "_summary": _summary,
    "_total": _total,
    "_elements": _elements,
    "_sort": _sort,
    "_include": _include,
    "_revinclude": _revinclude,
}
