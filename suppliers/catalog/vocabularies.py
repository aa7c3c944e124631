"""Code lists and code patterns for the fields of products."""

import re

from core.countries import COUNTRIES

__all__ = ["CLASSIFICATIONS", "COUNTRIES", "DEVICE_CLASSES", "HAZARD_CLASS", "UNIT", "UN_NUMBER"]

# The pattern of the codes of UNECE Recommendation 20; `units.UNITS` is the list.
UNIT = re.compile(r"[A-Z0-9]{2,3}")

# One pattern for each classification system.
CLASSIFICATIONS = {
    "atc": re.compile(r"[A-Z](\d{2}([A-Z]([A-Z](\d{2})?)?)?)?"),  # Source: WHO ATC index, levels 1 to 5
    "emdn": re.compile(
        r"[A-Z](\d{2}){0,6}"
    ),  # Source: European Medical Device Nomenclature, a letter and up to six pairs
    "gmdn": re.compile(r"\d{5}"),  # Source: Global Medical Device Nomenclature, preferred term code
    "unspsc": re.compile(r"\d{8}"),  # Source: UNSPSC, segment to commodity
    "hs_code": re.compile(r"\d{4}(\d{2}){0,3}"),  # Source: Harmonized System, heading to national subdivision
}

UN_NUMBER = re.compile(r"UN\d{4}")  # Source: UN Model Regulations, Dangerous Goods List
HAZARD_CLASS = re.compile(r"[1-9](\.[1-6][A-S]?)?")  # Source: UN Model Regulations, 2.0.1

# Risk classes of MDR (I to III), IVDR (A to D) and FDA (I to III).
DEVICE_CLASSES = ("I", "IIa", "IIb", "II", "III", "A", "B", "C", "D")
