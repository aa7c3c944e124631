"""The small value sets of R4's required bindings, as the codes that they hold."""

import json
from collections.abc import Sequence
from typing import Any, Final

from .schema import codes_of

MOST_CODES: Final = 100


def written(valuesets: Sequence[dict[str, Any]]) -> bytes:
    """The value sets with 1 to `MOST_CODES` codes: by address, for each code system its codes in order."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in valuesets:
        codes = sorted(codes_of(one))
        if 1 <= len(codes) <= MOST_CODES:
            systems = found.setdefault(one["url"], {})
            for system, code in codes:
                systems.setdefault(system, []).append(code)
    lines = [f"{json.dumps(url)}: {json.dumps(found[url], ensure_ascii=False)}" for url in sorted(found)]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()
