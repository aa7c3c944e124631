"""JSON Patch. Source: RFC 6902; paths are JSON Pointers, RFC 6901."""

import re
from collections.abc import Callable
from typing import Any, Final

from .effort import MAX_DEPTH, Effort
from .refusals import InvalidPatch, InvalidPatchPath, PatchTargetMissing, PatchTestFailed

_ABSENT: Final = object()
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_ESCAPE: Final = re.compile(r"~(?![01])")

Tokens = list[str]


def apply_json_patch(operations: Any, document: Any) -> Any:
    """Carry out the operations one after the other on a document that is the caller's to change.

    :raises PatchRefused: an operation is malformed, finds no target, or is a test that fails.
    """
    if not isinstance(operations, list):
        raise InvalidPatch("A JSON Patch is a list of operations.")
    patched = _Patched(document, Effort(len(operations)))
    for number, operation in enumerate(operations):
        patched.carry_out(operation, f"[{number}]")
    return patched.root


class _Patched:
    def __init__(self, root: Any, effort: Effort) -> None:
        self.root = root
        self.effort = effort

    def carry_out(self, operation: Any, place: str) -> None:
        if not isinstance(operation, dict):
            raise InvalidPatch(f"{place} is not an object.")
        name = operation.get("op")
        found = _OPERATIONS.get(name) if isinstance(name, str) else None
        if found is None:
            raise InvalidPatch(f"{place}: `op` is one of {', '.join(_OPERATIONS)}.")
        self.effort.spend()
        found(self, operation, _tokens(operation, "path", place), place)

    def add(self, operation: dict[str, Any], path: Tokens, place: str) -> None:
        value = self.effort.copied(_value(operation, place), len(path))
        self._place(path, value, place)

    def remove(self, _operation: dict[str, Any], path: Tokens, place: str) -> None:
        self._take(path, place)

    def replace(self, operation: dict[str, Any], path: Tokens, place: str) -> None:
        value = self.effort.copied(_value(operation, place), len(path))
        self._get(path, place)
        if not path:
            self.root = value
            return
        holder = self._get(path[:-1], place)
        holder[path[-1] if isinstance(holder, dict) else int(path[-1])] = value

    def move(self, operation: dict[str, Any], path: Tokens, place: str) -> None:
        source = _tokens(operation, "from", place)
        if path[: len(source)] == source and len(path) > len(source):
            raise InvalidPatch(f"{place}: a value cannot be moved into itself.")
        value = self._take(source, place)
        self._place(path, self.effort.copied(value, len(path)), place)

    def copy(self, operation: dict[str, Any], path: Tokens, place: str) -> None:
        value = self._get(_tokens(operation, "from", place), place)
        self._place(path, self.effort.copied(value, len(path)), place)

    def test(self, operation: dict[str, Any], path: Tokens, place: str) -> None:
        wanted = _value(operation, place)
        if not self.effort.equal(wanted, self._get(path, place)):
            raise PatchTestFailed(f"{place}: the value at `path` is another.")

    def _get(self, path: Tokens, place: str) -> Any:
        self.effort.spend(len(path))
        found = self.root
        if found is _ABSENT:
            raise _missing(place)
        for token in path:
            if isinstance(found, list):
                found = found[_index(token, len(found) - 1, place)]
            elif isinstance(found, dict) and token in found:
                found = found[token]
            else:
                raise _missing(place)
        return found

    def _place(self, path: Tokens, value: Any, place: str) -> None:
        if not path:
            self.root = value
            return
        holder, last = self._get(path[:-1], place), path[-1]
        if isinstance(holder, dict):
            holder[last] = value
        elif isinstance(holder, list):
            self.effort.shift(len(holder))
            holder.insert(len(holder) if last == "-" else _index(last, len(holder), place), value)
        else:
            raise _missing(place)

    def _take(self, path: Tokens, place: str) -> Any:
        found = self._get(path, place)
        if not path:
            self.root = _ABSENT
            return found
        holder, last = self._get(path[:-1], place), path[-1]
        if isinstance(holder, list):
            self.effort.shift(len(holder))
            del holder[int(last)]
        else:
            del holder[last]
        return found


_OPERATIONS: Final[dict[str, Callable[[_Patched, dict[str, Any], Tokens, str], None]]] = {
    "add": _Patched.add,
    "remove": _Patched.remove,
    "replace": _Patched.replace,
    "move": _Patched.move,
    "copy": _Patched.copy,
    "test": _Patched.test,
}


def _value(operation: dict[str, Any], place: str) -> Any:
    if "value" not in operation:
        raise InvalidPatch(f"{place} has no `value`.")
    return operation["value"]


def _tokens(operation: dict[str, Any], member: str, place: str) -> Tokens:
    pointer = operation.get(member)
    if not isinstance(pointer, str):
        raise InvalidPatch(f"{place} has no `{member}`.")
    if (pointer and not pointer.startswith("/")) or _ESCAPE.search(pointer):
        raise InvalidPatchPath(f"{place}: `{member}` is not a JSON Pointer.")
    if pointer.count("/") > MAX_DEPTH:
        raise _missing(place)
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _index(part: str, last: int, place: str) -> int:
    if part != "-" and not _INDEX.fullmatch(part):
        raise InvalidPatchPath(f"{place}: an element of a list is named by its number.")
    if part == "-" or int(part) > last:
        raise _missing(place)
    return int(part)


def _missing(place: str) -> PatchTargetMissing:
    return PatchTargetMissing(f"{place}: the resource has nothing at this path.")
