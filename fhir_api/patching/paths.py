"""The part of FHIRPath that patches name elements with. Source: R4 fhirpatch.html, FHIRPath N1.

Patient.name.where(use = 'official' and period.start = @2020-01-01).given[0]
Observation.value.ofType(Quantity).code      Patient.extension('http://…').value      Patient.telecom.last()
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NoReturn

from .refusals import InvalidPatchPath

LONGEST: Final = 2_000
_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | `(?P<quoted>[A-Za-z_][A-Za-z0-9_]*)`
      | '(?P<text>(?:[^'\\]|\\.)*)'
      | @(?P<date>T?[0-9][0-9T:.+Z-]*)
      | (?P<number>-?[0-9]{1,18}(?:\.[0-9]{1,18})?)
      | (?P<sign>!=|[.()\[\]=])
    )""",
    re.VERBOSE | re.ASCII,
)
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_FUNCTIONS: Final = ("where", "first", "last", "extension", "ofType", "as", "single")


@dataclass(frozen=True, slots=True)
class Member:
    """`.name`: a child element; for a choice its name without the type."""

    name: str


@dataclass(frozen=True, slots=True)
class Nth:
    """`[n]`, `.first()` (0), `.last()` (-1)."""

    number: int


@dataclass(frozen=True, slots=True)
class OfType:
    """`.ofType(T)`: what is of this type."""

    type: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """`path = literal` or `path != literal` inside where()."""

    path: tuple["Step", ...]
    value: Any
    equal: bool = True


@dataclass(frozen=True, slots=True)
class Where:
    """`.where(… and …)`: what meets all comparisons; `extension(url)` is one on extensions."""

    comparisons: tuple[Comparison, ...]


Step = Member | Nth | OfType | Where


def parse(text: str) -> tuple[Step, ...]:
    """Read a path; its first step is the resource's type.

    :raises InvalidPatchPath: it is no FHIRPath, or beyond this part of it.
    """
    if len(text) > LONGEST:
        raise InvalidPatchPath(f"A path has {len(text)} characters; {LONGEST} are allowed.")
    parser = _Parser(text)
    steps = parser.path()
    parser.end()
    return tuple(steps)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.at = 0

    def _tokens(self) -> Any:
        position = 0
        text = self.text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                self.refuse(position)
            position = match.end()
            kind = str(match.lastgroup)
            yield kind, match[kind], match.end()

    def refuse(self, position: int | None = None) -> NoReturn:
        if position is None:
            position = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        raise InvalidPatchPath(f"The path cannot be read near character {position}.")

    def next_is(self, kind: str, *values: str) -> bool:
        return self.at < len(self.tokens) and self._fits(self.tokens[self.at], kind, values)

    @staticmethod
    def _fits(token: tuple[str, str, int], kind: str, values: tuple[str, ...]) -> bool:
        return token[0] == kind and (not values or token[1] in values)

    def take(self, kind: str, *values: str) -> str:
        if not self.next_is(kind, *values):
            self.refuse()
        self.at += 1
        return str(self.tokens[self.at - 1][1])

    def end(self) -> None:
        if self.at < len(self.tokens):
            self.refuse()

    def path(self, depth: int = 0) -> list[Step]:
        steps: list[Step] = list(self._call_or_member(depth))
        while self.next_is("sign", ".", "["):
            if self.take("sign") == ".":
                steps.extend(self._call_or_member(depth))
            else:
                number = self.take("number")
                if not number.isdigit():
                    self.refuse()
                steps.append(Nth(int(number)))
                self.take("sign", "]")
        return steps

    def _call_or_member(self, depth: int) -> list[Step]:
        if self.next_is("quoted"):
            return [Member(self.take("quoted"))]
        name = self.take("name")
        if not self.next_is("sign", "("):
            return [Member(name)]
        if name not in _FUNCTIONS:
            self.refuse()
        self.take("sign", "(")
        found = self._arguments(name, depth)
        self.take("sign", ")")
        return found

    def _arguments(self, function: str, depth: int) -> list[Step]:
        if function == "where":
            return [Where(self._comparisons(depth + 1))]
        if function == "extension":
            url = Comparison((Member("url"),), _unescaped(self.take("text")))
            return [Member("extension"), Where((url,))]
        if function in ("ofType", "as"):
            return [OfType(self._type())]
        return [] if function == "single" else [Nth(0 if function == "first" else -1)]

    def _type(self) -> str:
        name = self.take("name")
        if name == "FHIR" and self.next_is("sign", "."):
            self.take("sign")
            name = self.take("name")
        return name

    def _comparisons(self, depth: int) -> tuple[Comparison, ...]:
        if depth > 3:
            self.refuse()
        found = [self._comparison(depth)]
        while self.next_is("name", "and"):
            self.take("name")
            found.append(self._comparison(depth))
        return tuple(found)

    def _comparison(self, depth: int) -> Comparison:
        path = self.path(depth)
        sign = self.take("sign", "=", "!=")
        return Comparison(tuple(path), self._literal(), equal=sign == "=")

    def _literal(self) -> Any:
        if self.next_is("text"):
            return _unescaped(self.take("text"))
        if self.next_is("number"):
            return Decimal(self.take("number"))
        if self.next_is("date"):
            return self.take("date").removesuffix("T").removeprefix("T")
        return self.take("name", "true", "false") == "true"


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2]), text)
