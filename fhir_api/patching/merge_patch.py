"""JSON merge patch. Source: RFC 7396."""

from typing import Any

from .effort import Effort


def apply_merge_patch(patch: Any, target: Any, effort: Effort | None = None, depth: int = 0) -> Any:
    """Merge a patch into a document that is the caller's to change: null removes, objects merge, all else replaces."""
    effort = effort or Effort()
    if not isinstance(patch, dict):
        return effort.copied(patch, depth)
    effort.spend(1 + len(patch))
    merged = target if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = apply_merge_patch(value, merged.get(name), effort, depth + 1)
    return merged
