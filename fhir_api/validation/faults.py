"""A fault of a resource while it is being looked for: where it lies, below what is being looked at."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fhir_api import elements
from fhir_api.outcomes import Issue

Path = tuple[str | int, ...]
# Issue types of R4 valueset-issue-type.
STRUCTURE, REQUIRED, VALUE, CODE_INVALID, INVARIANT = "structure", "required", "value", "code-invalid", "invariant"
_NAME: Final = re.compile(r"_?[A-Za-z][A-Za-z0-9]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fault:
    """A broken rule: the path from where it was found, R4's issue type, words without values of the record, the rule's key."""

    code: str
    diagnostics: str
    path: Path = ()
    rule: str = ""

    def under(self, *above: str | int) -> "Fault":
        """The same fault seen from further up."""
        return Fault(self.code, self.diagnostics, (*above, *self.path), self.rule)

    def issue(self, root: str) -> Issue:
        """The fault as an issue; `root` is the type of the resource."""
        words = f"{self.rule}: {self.diagnostics}" if self.rule else self.diagnostics
        return Issue(self.code, words, expression(root, self.path), self.rule)


def broken(rule: str, diagnostics: str, *path: str | int) -> Fault:
    """A broken invariant."""
    return Fault(INVARIANT, diagnostics, path, rule)


def expression(root: str, path: Iterable[str | int]) -> str:
    """The FHIRPath of an element; ends above a name that no element could have. Source: R4 operationoutcome.html."""
    found, kind = [root], root
    for one in path:
        if isinstance(one, int):
            found.append(f"[{one}]")
        elif not is_name(one):
            break
        else:
            element = elements.member(kind, one.removeprefix("_"))
            found.append(f".{element.choice}.ofType({element.type})" if element.choice else f".{element.name}")
            kind = element.type
    return "".join(found)


def is_name(text: str) -> bool:
    """Whether a member could be the name of an element, and so be repeated to the client."""
    return _NAME.fullmatch(text) is not None


def listed(words: Sequence[str]) -> str:
    """Words as an English list of alternatives."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


__all__ = [
    "CODE_INVALID",
    "INVARIANT",
    "REQUIRED",
    "STRUCTURE",
    "VALUE",
    "Fault",
    "Path",
    "broken",
    "expression",
    "is_name",
    "listed",
]
