"""Reading a release of RxNorm: its drugs, with ingredients, form and strength from the relations between concepts.

The two files are read line by line; only RxNorm's own concepts and the relations between them are kept.
Source: RxNorm Technical Documentation, sections 12.4 (RXNCONSO) and 12.6 (RXNREL): "RXCUI2 has the relation to RXCUI1".
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .columns import MOST_TOKENS, token
from .csv_files import UnusableTable
from .ingredients import Ingredient, known_ingredients
from .schedules import effective_schedule
from .systems import RXNORM
from .tables import Row

_DRUGS = frozenset(
    ("IN", "PIN", "MIN", "BN", "SCD", "SBD", "SCDC", "SBDC", "SCDF", "SBDF", "SCDG", "SBDG", "GPCK", "BPCK")
)
_DOSE_FORM = "DF"
_COMPONENT = "SCDC"
# The relations that lead from a drug to what it consists of, down to its ingredients.
_PARTS = frozenset(
    ("has_ingredient", "has_ingredients", "has_precise_ingredient", "consists_of", "tradename_of", "form_of", "has_part",
     "contains")
)  # fmt: skip
_HAS_FORM = "has_dose_form"
_STRENGTH = re.compile(r" (\d[\d.,]*) (\S+)$")
# RxNorm's units in UCUM.
_UNITS = {"MG": "mg", "MG/ML": "mg/mL", "MG/ACTUAT": "mg/{actuat}", "MG/HR": "mg/h", "UNT": "[U]", "UNT/ML": "[U]/mL",
          "MEQ": "meq", "MEQ/ML": "meq/mL", "ML": "mL", "%": "%"}  # fmt: skip
_CONCEPT_COLUMNS, _RELATION_COLUMNS = 18, 16
_MOST_STEPS = 8  # a branded pack: pack, drug, generic drug, component, precise ingredient, ingredient


@dataclass(slots=True)
class _Release:
    """What was read: name and type of each concept, its parts, and its dose forms."""

    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    parts: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    forms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def below(self, code: str) -> Iterator[str]:
        """Yield a concept and all that it consists of."""
        seen, level = {code}, {code}
        for _ in range(_MOST_STEPS):
            yield from sorted(level)
            level = {part for one in level for part in self.parts.get(one, ())} - seen
            if not level:
                return
            seen |= level


def medications(folder: Path) -> Iterator[Row]:
    """Yield the rows of the table of medications from a release's folder; without RXNREL.RRF they lack ingredients.

    :raises UnusableTable: there is no RXNCONSO.RRF, a line has not the columns of the format, or there are no drugs.
    """
    release = _Release()
    for cells in _lines(folder, "RXNCONSO.RRF", _CONCEPT_COLUMNS):
        code, kind = cells[0], cells[12]
        is_current = cells[1] == "ENG" and cells[11] == "RXNORM" and cells[16] in ("N", "")
        if is_current and (kind in _DRUGS or kind == _DOSE_FORM):
            release.names.setdefault(code, (cells[14].strip(), kind))
    if not any(kind in _DRUGS for _, kind in release.names.values()):
        raise UnusableTable("RXNCONSO.RRF holds no drug of RxNorm.")
    if (folder / "RXNREL.RRF").exists():
        _read_relations(release, folder)
    known = known_ingredients()
    for code, (name, kind) in release.names.items():
        if kind in _DRUGS:
            yield _row(release, known, code, name)


def _read_relations(release: _Release, folder: Path) -> None:
    for cells in _lines(folder, "RXNREL.RRF", _RELATION_COLUMNS):
        part, whole, relation = cells[0], cells[4], cells[7]
        if cells[10] != "RXNORM" or part not in release.names or whole not in release.names:
            continue
        if relation in _PARTS:
            release.parts[whole].add(part)
        elif relation == _HAS_FORM:
            release.forms[whole].add(part)


def _lines(folder: Path, name: str, columns: int) -> Iterator[list[str]]:
    """Yield the cells of each line; the format ends each cell with `|`."""
    try:
        with (folder / name).open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                cells = line.rstrip("\r\n").split("|")
                if len(cells) <= columns:
                    raise UnusableTable(f"{name}, line {number}: {len(cells) - 1} columns instead of {columns}.")
                yield cells
    except OSError as error:
        raise UnusableTable(f"{folder / name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnusableTable(f"{folder / name} is not UTF-8.") from error


def _row(release: _Release, known: Mapping[str, Ingredient], code: str, name: str) -> Row:
    below = [(one, *release.names[one]) for one in release.below(code)]
    ingredients = sorted({token(found) for _, found, kind in below if kind == "IN"})[:MOST_TOKENS]
    facts = [known[one] for one in ingredients if one in known]
    forms = sorted({release.names[form][0] for one, _, _ in below for form in release.forms.get(one, ())})
    strength, unit = _strength(release, below, ingredients)
    return {
        "system": RXNORM,
        "code": code,
        "display": name[:3000],
        "ingredients": ingredients,
        "classes": list(dict.fromkeys(name for fact in facts for name in fact.classes)),
        "form": forms[0].lower()[:120] if len(forms) == 1 else "",
        "strength": strength,
        "unit": unit,
        "schedule": effective_schedule(*(fact.schedule for fact in facts)),
    }


def _strength(release: _Release, below: list[tuple[str, str, str]], ingredients: list[str]) -> tuple[str, str]:
    """Return the strength of each ingredient in their order, and the unit; nothing where the components differ."""
    found: dict[str, tuple[str, str]] = {}
    for code, name, kind in below:
        match = _STRENGTH.search(name) if kind == _COMPONENT else None
        names = {token(release.names[one][0]) for one in release.below(code) if release.names[one][1] == "IN"}
        if kind != _COMPONENT:
            continue
        if match is None or len(names) != 1 or found.setdefault(min(names), match.groups()) != match.groups():  # type: ignore[arg-type]
            return "", ""
    units = {unit for _, unit in found.values()}
    if sorted(found) != ingredients or len(units) != 1 or not units <= set(_UNITS):
        return "", ""
    return "/".join(found[name][0].replace(",", "") for name in ingredients), _UNITS[units.pop()]
