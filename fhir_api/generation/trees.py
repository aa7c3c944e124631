"""Elements that search parameters look at, as a tree, and the Python that walks it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .structures import Element

_NAMES = ("value", "part", "detail", "point")
_WITHOUT_NONE = ("tokens.code(", "tokens.boolean(", "texts.string(", "texts.uri(", "measures.moment(")
_HEAD = '''"""What a resource of the type {type} is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import {modules}
from fhir_api.entries import Entries
'''
_PACKAGE = '''"""The extraction of all types: generated, not written."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fhir_api.entries import Entries

from . import (
{imports}
)

Extract = Callable[[Entries, Any], None]

# For each type: what to do with each of its elements, and what with the resource as a whole.
EXTRACTIONS: Final[Mapping[str, tuple[Mapping[str, Extract], tuple[Extract, ...]]]] = {{
{types}
}}
'''


@dataclass(slots=True, eq=False)
class Node:
    """An element: the calls for each of its values, and the elements in it. In a call, `{value}` stands for the value."""

    element: Element
    calls: list[str] = field(default_factory=list)
    children: "dict[str, Node]" = field(default_factory=dict)
    wheres: "dict[str, Node]" = field(default_factory=dict)  # by the condition, in which `{value}` is the value
    pairs: dict[str, list[str]] = field(default_factory=dict)

    def call(self, text: str, code: str) -> None:
        """Add a call for a parameter; once is enough."""
        line = f"{text}  # {code}"
        if line not in self.calls:
            self.calls.append(line)

    def pair(self, beside: Element, text: str, code: str) -> None:
        """Add a call for a value and a part of it, which is `{part}`."""
        self.pairs.setdefault(beside.member, []).append(f"{text}  # {code}")

    def child(self, element: Element) -> "Node":
        """The node of an element in this one."""
        return self.children.setdefault(element.member, Node(element))

    def prune(self) -> "Node":
        """Drop the nodes in this one that nothing is done with, such as the types of a choice that were left out."""
        for nodes in (self.children, self.wheres):
            for name in [name for name, node in nodes.items() if node.prune().is_empty]:
                del nodes[name]
        return self

    @property
    def is_empty(self) -> bool:
        """Whether nothing is done with it."""
        return not (self.calls or self.children or self.wheres or self.pairs)

    def where(self, name: str, value: str) -> "Node":
        """The node of those values whose member `name` is `value`."""
        return self.wheres.setdefault(f'{{value}}.get("{name}") == "{value}"', Node(self.element))

    def extended(self, url: str) -> "Node":
        """The node of those values that have an extension."""
        return self.wheres.setdefault(f'texts.has_extension({{value}}, "{url}")', Node(self.element))


def module(root: Node) -> str:
    """The module of a type: a function for each element and the table of them."""
    functions = [function(child, f"_{snake(member)}") for member, child in sorted(root.children.items())]
    whole = list(_whole(root))
    if whole:
        functions.append("\n".join(["def _whole(entries: Entries, value: Any) -> None:", *whole]))
    table = "\n".join(f'    "{member}": _{snake(member)},' for member in sorted(root.children))
    tables = f"ELEMENTS: Final = {{\n{table}\n}}\nWHOLE: Final = ({'_whole,' if whole else ''})"
    body = "\n\n\n".join(functions)
    used = [name for name in ("measures", "texts", "tokens") if f"{name}." in body]
    return _HEAD.format(type=root.element.type, modules=", ".join(used)) + f"\n\n{body}\n\n\n{tables}\n"


def package(types: list[str]) -> str:
    """The package's own file: every type and its tables."""
    names = sorted(snake(name) for name in types)
    return _PACKAGE.format(
        imports="\n".join(f"    {name}," for name in names),
        types="\n".join(f'    "{name}": ({snake(name)}.ELEMENTS, {snake(name)}.WHOLE),' for name in types),
    )


def function(node: Node, name: str) -> str:
    """The function for one element of the resource; of an element that repeats it takes the list."""
    if node.element.many:
        head = [f"def {name}(entries: Entries, values: Any) -> None:", "    for value in values:"]
        return "\n".join([*head, *_lines(node, 0, "        ")])
    return "\n".join([f"def {name}(entries: Entries, value: Any) -> None:", *_lines(node, 0, "    ")])


def snake(name: str) -> str:
    """`MedicationRequest` as `medication_request`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _lines(node: Node, depth: int, indent: str) -> Iterator[str]:
    name, inner = _NAMES[depth], _NAMES[depth + 1]
    yield from (indent + call.format(value=name) for call in node.calls)
    for condition, where in node.wheres.items():
        yield f"{indent}if {condition.format(value=name)}:"
        yield from _lines(where, depth, indent + "    ")
    for member in sorted({*node.children, *node.pairs}):
        child = node.children.get(member)
        if child and member not in node.pairs and _is_plain(child):
            yield from (indent + call.format(value=f'{name}.get("{member}")') for call in child.calls)
            continue
        many = child is not None and child.element.many
        yield f'{indent}for {inner} in {name}.get("{member}", ()):' if many else _if(indent, inner, name, member)
        yield from _paired(node, member, depth, indent + "    ")
        yield from _lines(child, depth + 1, indent + "    ") if child else ()


def _whole(root: Node) -> Iterator[str]:
    """What is done with the resource as a whole: its own calls, and those for pairs of its elements."""
    yield from ("    " + call.format(value=_NAMES[0]) for call in root.calls)
    for member in sorted(root.pairs):
        yield _if("    ", _NAMES[1], _NAMES[0], member)
        yield from _paired(root, member, 0, "        ")


def _paired(node: Node, member: str, depth: int, indent: str) -> Iterator[str]:
    for call in node.pairs.get(member, ()):
        yield indent + call.format(value=_NAMES[depth], part=_NAMES[depth + 1])


def _if(indent: str, inner: str, name: str, member: str) -> str:
    return f'{indent}if ({inner} := {name}.get("{member}")) is not None:'


def _is_plain(node: Node) -> bool:
    """Whether all that is done with a single element are calls that take its absence, too."""
    empty = not (node.element.many or node.children or node.wheres or node.pairs)
    return empty and all(call.startswith(_WITHOUT_NONE) for call in node.calls)
