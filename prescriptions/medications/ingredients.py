"""What is known of ingredients by hand: their classes and schedules, which a release of RxNorm does not hold."""

import csv
from pathlib import Path
from typing import NamedTuple

from .columns import token
from .schedules import schedule_of

FILE = Path(__file__).parent / "demonstration" / "ingredients.csv"


class Ingredient(NamedTuple):
    """The classes and the schedule of an ingredient."""

    classes: tuple[str, ...]
    schedule: str


def known_ingredients() -> dict[str, Ingredient]:
    """Read the file of ingredients, by their names."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {
            token(row["ingredient"]): Ingredient(
                tuple(token(name) for name in row["classes"].split(";") if name.strip()), schedule_of(row["schedule"])
            )
            for row in csv.DictReader(file, strict=True)
        }
