"""The part of FHIRPath that R4's search parameters of the registered types use, read into steps.

Path, `(a as T)`, `.as(T)`, `.ofType(T)`, `.where(x='y')`, `.where(resolve() is T)`, `.where(hasExtension('url'))`,
`.extension('url')`, and `x.exists() and x != false`. Anything else is refused. Source: R4 fhirpath.html, searchparameter-registry.html.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass


class UnknownExpression(ValueError):
    """An expression outside of the part of FHIRPath that is understood."""


@dataclass(frozen=True, slots=True)
class Field:
    """Go to an element; of a choice, to one of its types if `cast` names it."""

    name: str
    cast: str = ""


@dataclass(frozen=True, slots=True)
class Where:
    """Keep the elements whose member has this value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Extended:
    """Keep the elements that have this extension."""

    url: str


@dataclass(frozen=True, slots=True)
class Resolves:
    """Keep the references to this type."""

    type: str


@dataclass(frozen=True, slots=True)
class Holds:
    """Whether the element is there and not false: a boolean, also of a resource without it."""


Step = Field | Where | Extended | Resolves | Holds

_HOLDS = re.compile(r"\w+\.(?P<path>\w+)\.exists\(\) and \w+\.(?P=path) != false")
_CAST = re.compile(r"^\((?P<path>[\w.]+) as (?P<type>\w+)\)")
_STEP = re.compile(
    r"(?:as|ofType)\((?P<cast>\w+)\)"
    r"|where\(hasExtension\('(?P<has>[^']*)'\)\)"
    r"|where\(resolve\(\) is (?P<target>\w+)\)"
    r"|where\((?P<name>\w+)='(?P<value>[^']*)'\)"
    r"|extension\('(?P<url>[^']*)'\)"
    r"|(?P<field>\w+)"
)


def alternatives(expression: str) -> list[str]:
    """The sides of a union."""
    return [part.strip() for part in expression.split(" | ")]


def starts_at(expression: str) -> str:
    """The type an expression begins with."""
    found = re.match(r"\(?(\w+)", expression)
    if found is None:
        raise UnknownExpression(expression)
    return found[1]


def steps(expression: str, *, rooted: bool = True) -> list[Step]:
    """The steps of one side of a union; a `rooted` one begins with the type, which is left out.

    :raises UnknownExpression: something else than the part that is understood.
    """
    if holds := _HOLDS.fullmatch(expression):
        return [Field(holds["path"]), Holds()]
    found: list[Step] = []
    for match in _matches(_CAST.sub(r"\g<path>.as(\g<type>)", expression), expression):
        if match["cast"]:
            found[-1] = _cast(found[-1], match["cast"], expression)
        else:
            found.extend(_steps(match))
    return found[1:] if rooted else found


def elements(path: Sequence[Step]) -> tuple[str, ...]:
    """The names of the elements that steps go through, whatever they keep on the way."""
    return tuple(step.name for step in path if isinstance(step, Field))


def _matches(text: str, expression: str) -> list[re.Match[str]]:
    found, place = [], 0
    while True:
        match = _STEP.match(text, place)
        if match is None:
            raise UnknownExpression(expression)
        found.append(match)
        place = match.end() + 1
        if match.end() == len(text):
            return found
        if text[match.end()] != ".":
            raise UnknownExpression(expression)


def _steps(match: re.Match[str]) -> list[Step]:
    if match["target"]:
        return [Resolves(match["target"])]
    if match["name"]:
        return [Where(match["name"], match["value"])]
    if match["has"]:
        return [Extended(match["has"])]
    if match["url"]:
        return [Field("extension"), Where("url", match["url"])]
    return [Field(match["field"])]


def _cast(step: Step, name: str, expression: str) -> Step:
    if not isinstance(step, Field):
        raise UnknownExpression(expression)
    return Field(step.name, name)
