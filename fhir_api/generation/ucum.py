"""The symbols of UCUM's units and prefixes: from its published table to `definitions/ucum.json`.

Source: ucum-essence.xml of UCUM 2.2, free of charge under the UCUM Copyright Notice and License (https://ucum.org/license).
"""

import json
from collections.abc import Iterable
from typing import Any, Final
from xml.etree import ElementTree as ET

_NAME: Final = "{http://unitsofmeasure.org/ucum-essence}"
_NOTICE: Final = (
    "Symbols of UCUM %s, copyright Regenstrief Institute, Inc. and the UCUM Organization, Indianapolis, IN; all rights reserved;"
    " used under the UCUM License. Made by generate_fhir_definitions. Do not edit."
)


def written(essence: bytes) -> bytes:
    """The file: prefixes, the units that take them, the units that do not; the case-sensitive symbols of each."""
    root = ET.fromstring(essence)  # noqa: S314  # nosec B314  # a developer names the file
    units = list(root.iter(f"{_NAME}unit"))
    metric = [one for one in units if one.get("isMetric") == "yes"]
    found: dict[str, Any] = {
        "$comment": _NOTICE % root.get("version"),
        "prefixes": _symbols(root.iter(f"{_NAME}prefix")),
        "metric": sorted([*_symbols(root.iter(f"{_NAME}base-unit")), *_symbols(metric)]),
        "others": _symbols(one for one in units if one not in metric),
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _symbols(elements: Iterable[ET.Element]) -> list[str]:
    return sorted(one.attrib["Code"] for one in elements)
