"""Code lists and code patterns for the fields of products."""

import re

# Source: ISO 3166-1 alpha-2, officially assigned.
_COUNTRIES = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
"""
COUNTRIES = frozenset(_COUNTRIES.split())

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
