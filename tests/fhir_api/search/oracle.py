"""What a search must find, told in plain Python from the resources alone, without index and SQL."""

import unicodedata
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

Json = dict[str, Any]
Span = tuple[datetime, datetime]
Test = Callable[[Json], bool]
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def at(resource: Any, path: str) -> Iterator[Any]:
    """The values at a path, through lists."""
    head, _, rest = path.partition(".")
    if isinstance(resource, list):
        for one in resource:
            yield from at(one, path)
    elif isinstance(resource, dict) and head in resource:
        value = resource[head]
        for one in value if isinstance(value, list) else [value]:
            if rest:
                yield from at(one, rest)
            elif one is not None:
                yield one


def any_at(resource: Json, *paths: str) -> Iterator[Any]:
    for path in paths:
        yield from at(resource, path)


def codings(values: Iterator[Any]) -> Iterator[tuple[str, str]]:
    """System ("" for none) and code of what tokens are made of."""
    for value in values:
        if isinstance(value, bool):
            yield "", "true" if value else "false"
        elif isinstance(value, str):
            yield "*", value
        elif "coding" in value:
            yield from ((one.get("system", ""), one["code"]) for one in value["coding"] if "code" in one)
        elif "code" in value:
            yield value.get("system", ""), value["code"]
        elif "value" in value:
            yield value.get("system", ""), value["value"]


def token(paths: tuple[str, ...], text: str) -> Test:
    system, bar, code = text.partition("|")

    def test(resource: Json) -> bool:
        for own_system, own_code in codings(any_at(resource, *paths)):
            if not bar:
                if own_code == text:
                    return True
            elif (not code or own_code == code) and (own_system in ("*", system)):
                return True
        return False

    return test


def plain(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text)
    return " ".join("".join(one for one in apart if not unicodedata.combining(one)).casefold().split())


def string(paths: tuple[str, ...], text: str, modifier: str = "") -> Test:
    def test(resource: Json) -> bool:
        values = [one for one in any_at(resource, *paths) if isinstance(one, str)]
        if modifier == "exact":
            return text in values
        if modifier == "contains":
            return any(plain(text) in plain(one) for one in values)
        return any(plain(one).startswith(plain(text)) for one in values)

    return test


def reference(paths: tuple[str, ...], name: str) -> Test:
    return lambda resource: any(one == name for one in any_at(resource, *paths))


def span(text: str) -> Span:
    parts = text[:10].split("-")
    if len(text) <= 10:
        year, month = int(parts[0]), int(parts[1]) if len(parts) > 1 else 0
        if len(parts) == 3:
            low = datetime.fromisoformat(text).replace(tzinfo=UTC)
            return low, low + timedelta(days=1)
        if month:
            low = datetime(year, month, 1, tzinfo=UTC)
            return low, low + timedelta(days=monthrange(year, month)[1])
        return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    low = datetime.fromisoformat(text)
    low = low.replace(tzinfo=UTC) if low.tzinfo is None else low.astimezone(UTC)
    return low, low + (timedelta(milliseconds=1) if "." in text else timedelta(seconds=1))


def spans(resource: Json, paths: tuple[str, ...]) -> Iterator[Span]:
    for value in any_at(resource, *paths):
        if isinstance(value, str):
            yield span(value)
        elif "start" in value or "end" in value:
            yield (
                span(value["start"])[0] if "start" in value else FIRST,
                span(value["end"])[1] if "end" in value else LAST,
            )


def date(paths: tuple[str, ...], prefix: str, text: str) -> Test:
    """R4's words for each prefix, on the ranges of target and search."""
    low, high = span(text)

    def contains(own: Span) -> bool:
        return own[0] >= low and own[1] <= high

    words: dict[str, Callable[[Span], bool]] = {
        "eq": contains,
        "ne": lambda own: not contains(own),
        "gt": lambda own: own[1] > high,
        "lt": lambda own: own[0] < low,
        "ge": lambda own: own[1] > high or contains(own),
        "le": lambda own: own[0] < low or contains(own),
        "sa": lambda own: own[0] >= high,
        "eb": lambda own: own[1] <= low,
    }
    return lambda resource: any(words[prefix](own) for own in spans(resource, paths))


def numbers(value: Json, unit: str) -> bool:
    if not unit:
        return True
    system, _, code = unit.partition("|")
    if system:
        return value.get("system") == system and value.get("code") == code
    return code in (value.get("code"), value.get("unit"))


def quantity(paths: tuple[str, ...], prefix: str, number: str, unit: str) -> Test:
    wanted = Decimal(number)
    half = Decimal(1).scaleb(int(wanted.as_tuple().exponent)) / 2  # type: ignore[arg-type]
    low, high = float(wanted - half), float(wanted + half)
    words: dict[str, Callable[[float], bool]] = {
        "eq": lambda own: low <= own < high,
        "ne": lambda own: not low <= own < high,
        "gt": lambda own: own > float(wanted),
        "lt": lambda own: own < float(wanted),
        "ge": lambda own: own >= float(wanted),
        "le": lambda own: own <= float(wanted),
    }

    def test(resource: Json) -> bool:
        values = [one for one in any_at(resource, *paths) if "value" in one and numbers(one, unit)]
        return any(words[prefix](float(one["value"])) for one in values)

    return test


def present(paths: tuple[str, ...]) -> Test:
    return lambda resource: any(True for _ in any_at(resource, *paths))
