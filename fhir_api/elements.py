"""What children an element has, of which types, and which of them repeat; read from `definitions/elements.json`."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).parent / "definitions" / "elements.json"
_CHOICE: Final = "[x]"


@dataclass(frozen=True, slots=True)
class Element:
    """One member of an object: its name in JSON, its type ("HumanName", "Patient.contact"), whether it is a list.

    `choice` is the name before the type of a choice ("value" of `valueQuantity`), "" for all others.
    """

    name: str
    type: str
    repeats: bool = False
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """The members of a type, by their names in JSON, and the names that each choice may take."""

    elements: dict[str, Element]
    choices: dict[str, tuple[str, ...]]


def members(type_name: str) -> Members | None:
    """The members of a type of data, resource or inner element; None for what is not defined here."""
    return _members().get(type_name)


def member(type_name: str, name: str) -> Element:
    """Return one member of a type; of a name that the type does not have, what it means where it is a choice."""
    found = members(type_name)
    known = found.elements.get(name) if found else None
    return known or _anywhere().get(name) or Element(name, "")


@cache
def _anywhere() -> dict[str, Element]:
    """The names of choices that are never the name of a plain element."""
    every = [one for type_members in _members().values() for one in type_members.elements.values()]
    plain = {one.name for one in every if not one.choice}
    return {one.name: one for one in every if one.choice and one.name not in plain}


def is_primitive(type_name: str) -> bool:
    """Tell whether values of the type are JSON texts, numbers and booleans; `xhtml` too."""
    return type_name[:1].islower()


@cache
def _members() -> dict[str, Members]:
    listed: dict[str, dict[str, str]] = json.loads(_FILE.read_bytes())
    return {name: _one(children) for name, children in listed.items()}


def _one(children: dict[str, str]) -> Members:
    found, choices = {}, {}
    for name, kinds in children.items():
        if name.endswith(_CHOICE):
            base = name.removesuffix(_CHOICE)
            made = [Element(base + kind[0].upper() + kind[1:], kind, choice=base) for kind in kinds.split("|")]
            choices[base] = tuple(element.name for element in made)
            found.update({element.name: element for element in made})
        else:
            found[name] = Element(name, kinds.removesuffix("*"), repeats=kinds.endswith("*"))
    return Members(found, choices)
