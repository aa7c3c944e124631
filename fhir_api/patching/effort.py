"""What one patch may cost: every value that is copied, compared or moved aside is counted."""

from typing import Any

from .refusals import PatchTooCostly

MOST_OPERATIONS = 10_000
MOST_STEPS = 1_000_000
MAX_DEPTH = 64
_SHIFTED_AT_ONCE = 64


class Effort:
    """The steps that are left to a patch."""

    def __init__(self, operations: int = 0) -> None:
        """Refuse too many operations at once.

        :raises PatchTooCostly: there are more than `MOST_OPERATIONS`.
        """
        if operations > MOST_OPERATIONS:
            raise PatchTooCostly(f"The patch has {operations} operations; {MOST_OPERATIONS} are allowed.")
        self.left = MOST_STEPS

    def spend(self, steps: int = 1) -> None:
        """Count steps.

        :raises PatchTooCostly: none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise PatchTooCostly("The patch takes too many steps.")

    def shift(self, length: int) -> None:
        """Count moving the elements of a list aside."""
        self.spend(1 + length // _SHIFTED_AT_ONCE)

    def copied(self, value: Any, depth: int = 0) -> Any:
        """A value of its own, to be placed `depth` levels below the root.

        :raises PatchTooCostly: it is too large, or reaches too deep.
        """
        if isinstance(value, str):
            self.spend(1 + len(value) // 256)
            return value
        self.spend()
        if isinstance(value, dict | list) and depth >= MAX_DEPTH:
            raise PatchTooCostly(f"The patched resource would be nested deeper than {MAX_DEPTH} levels.")
        if isinstance(value, dict):
            return {name: self.copied(member, depth + 1) for name, member in value.items()}
        if isinstance(value, list):
            return [self.copied(member, depth + 1) for member in value]
        return value

    def equal(self, one: Any, other: Any) -> bool:
        """Compare as JSON: numbers by value (1.10 is 1.1), `true` is not 1. Source: RFC 6902 section 4.6."""
        self.spend(1 + len(one) // 256 if isinstance(one, str) else 1)
        if isinstance(one, dict):
            return (
                isinstance(other, dict)
                and one.keys() == other.keys()
                and all(self.equal(member, other[name]) for name, member in one.items())
            )
        if isinstance(one, list):
            return (
                isinstance(other, list)
                and len(one) == len(other)
                and all(self.equal(*pair) for pair in zip(one, other, strict=True))
            )
        return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)
