"""What differs between two versions of an agreement, for staff: members of the header, and lines by what they are for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final, NamedTuple

from suppliers.agreements.models import PriceAgreement, PriceAgreementLine

_LINE: Final = (
    "price_base_quantity", "tiers", "max_quantity", "min_remaining_shelf_life_days", "lead_time_days",
)  # fmt: skip
_Key = tuple[str, str, int]


class Difference(NamedTuple):
    """One member that differs: of the header, or of a line, which `line` names; an empty side has none."""

    line: str
    member: str
    before: str
    after: str


def differences(
    before: PriceAgreement,
    after: PriceAgreement,
    lines_before: Iterable[PriceAgreementLine],
    lines_after: Iterable[PriceAgreementLine],
) -> Iterator[Difference]:
    """Yield what differs from one version to the next: first the header, then the lines in the order of the later version."""
    for name in PriceAgreement.HEADER:
        yield from _compared("", name, getattr(before, name), getattr(after, name))
    old, new = _by_key(lines_before), _by_key(lines_after)
    for key in dict.fromkeys([*new, *old]):
        yield from _of_line(_named(key), old.get(key), new.get(key))


def _of_line(name: str, old: PriceAgreementLine | None, new: PriceAgreementLine | None) -> Iterator[Difference]:
    if old is None or new is None:
        yield Difference(name, "line", "there" if old else "", "there" if new else "")
    for member in _LINE:
        yield from _compared(name, member, getattr(old, member, None), getattr(new, member, None))


def _compared(line: str, member: str, before: Any, after: Any) -> Iterator[Difference]:
    if before != after:
        shown = _IN_WORDS.get(member, _text)
        yield Difference(line, member.replace("_", " "), shown(before), shown(after))


def _by_key(lines: Iterable[PriceAgreementLine]) -> dict[_Key, PriceAgreementLine]:
    """Return lines by product or category, packaging, and the how-manieth line of both it is."""
    found: dict[_Key, PriceAgreementLine] = {}
    for line in sorted(lines, key=lambda one: one.line_no):
        subject, packaging = str(line.product_id or f"category {line.category}"), str(line.packaging_id or "")
        number = next(number for number in count() if (subject, packaging, number) not in found)
        found[subject, packaging, number] = line
    return found


def _named(key: _Key) -> str:
    subject, packaging, number = key
    return " ".join(
        filter(None, (subject, packaging and f"packaging {packaging}", f"({number + 1})" if number else ""))
    )


def _text(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {one}" for name, one in value.items())
    return str(value)


def tiers_of(tiers: Iterable[Mapping[str, Any]] | None) -> str:
    """Write tiers in words; "" for no line."""
    return "; ".join(
        f"from {one['min_quantity']}: " + (one.get("unit_price") or f"{one.get('discount_percent')} %")
        for one in tiers or ()
    )


def names_of(files: Iterable[Mapping[str, Any]]) -> str:
    """Write the names of files."""
    return ", ".join(one["name"] for one in files)


_IN_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {"tiers": tiers_of, "files": names_of}
