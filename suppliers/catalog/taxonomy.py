"""The platform's category tree, and its seeding after every migration.

Mappings name the corresponding node of UNSPSC (UN Standard Products and Services Code), EMDN (European Medical Device
Nomenclature) or ATC (WHO Anatomical Therapeutic Chemical classification), where one has the same or a wider meaning.
"""

from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from core import clock

from .models import PlatformCategory

_NAMESPACE = uuid5(NAMESPACE_URL, "urn:healthcare-platform:categories")


class Node(NamedTuple):
    """One category; `parent` is the code of its parent, empty for a root."""

    code: str
    name: str
    parent: str = ""
    unspsc: str = ""
    emdn: str = ""
    atc: str = ""

    @property
    def id(self) -> UUID:
        """The id, derived from the code, so that it is the same in every installation."""
        return uuid5(_NAMESPACE, self.code)

    @property
    def mappings(self) -> dict[str, str]:
        """Codes of other taxonomies, where there are any."""
        return {name: code for name in ("unspsc", "emdn", "atc") if (code := getattr(self, name))}


TREE = (
    Node("medicines", "Medicines", unspsc="51000000"),
    Node("alimentary-and-metabolism", "Alimentary tract and metabolism", "medicines", atc="A"),
    Node("antidiabetics", "Drugs used in diabetes", "alimentary-and-metabolism", atc="A10"),
    Node("blood-and-blood-forming", "Blood and blood forming organs", "medicines", atc="B"),
    Node("antithrombotics", "Antithrombotic agents", "blood-and-blood-forming", atc="B01"),
    Node("infusion-solutions", "Blood substitutes and perfusion solutions", "blood-and-blood-forming", atc="B05"),
    Node("cardiovascular-medicines", "Cardiovascular system", "medicines", unspsc="51120000", atc="C"),
    Node("dermatologicals", "Dermatologicals", "medicines", atc="D"),
    Node("genito-urinary-medicines", "Genito-urinary system and sex hormones", "medicines", atc="G"),
    Node("hormones", "Systemic hormonal preparations", "medicines", atc="H"),
    Node("anti-infectives", "Anti-infectives for systemic use", "medicines", unspsc="51100000", atc="J"),
    Node("antibacterials", "Antibacterials for systemic use", "anti-infectives", atc="J01"),
    Node("vaccines", "Vaccines", "anti-infectives", atc="J07"),
    Node("oncology-and-immunology", "Antineoplastic and immunomodulating agents", "medicines", atc="L"),
    Node("musculo-skeletal-medicines", "Musculo-skeletal system", "medicines", atc="M"),
    Node("nervous-system", "Nervous system", "medicines", unspsc="51140000", atc="N"),
    Node("anesthetics", "Anesthetics", "nervous-system", atc="N01"),
    Node("analgesics", "Analgesics", "nervous-system", atc="N02"),
    Node("antiparasitics", "Antiparasitic products", "medicines", atc="P"),
    Node("respiratory-medicines", "Respiratory system", "medicines", unspsc="51160000", atc="R"),
    Node("sensory-organs", "Sensory organs", "medicines", atc="S"),
    Node("contrast-media", "Contrast media", "medicines", atc="V08"),
    Node("consumables", "Medical consumables"),
    Node("gloves", "Medical gloves", "consumables", unspsc="42132200", emdn="T"),
    Node("protective-apparel", "Protective and surgical apparel", "consumables", unspsc="42131600", emdn="T"),
    Node("incontinence-aids", "Incontinence aids", "consumables", emdn="T"),
    Node("syringes", "Syringes", "consumables", unspsc="42142600", emdn="A02"),
    Node("needles", "Needles", "consumables", unspsc="42142500", emdn="A01"),
    Node("infusion-supplies", "Infusion and administration supplies", "consumables", unspsc="42220000", emdn="A"),
    Node("blood-management", "Blood collection and transfusion supplies", "consumables", emdn="B"),
    Node("wound-care", "Wound care", "consumables", unspsc="42310000", emdn="M"),
    Node("dressings", "Bandages and dressings", "wound-care", unspsc="42311500", emdn="M"),
    Node("sutures", "Sutures and wound closure", "wound-care", emdn="H"),
    Node("urology-supplies", "Urogenital supplies", "consumables", emdn="U"),
    Node("gastroenterology-supplies", "Gastrointestinal supplies", "consumables", emdn="G"),
    Node("respiratory-supplies", "Respiratory and anesthesia supplies", "consumables", unspsc="42270000", emdn="R"),
    Node("dialysis-supplies", "Dialysis supplies", "consumables", unspsc="42160000", emdn="F"),
    Node("dental-supplies", "Dental supplies", "consumables", unspsc="42150000", emdn="Q"),
    Node("disinfectants", "Disinfectants and antiseptics", "consumables", emdn="D"),
    Node("sterilization-supplies", "Sterilization supplies", "consumables", unspsc="42280000", emdn="S"),
    Node("clinical-nutrition", "Clinical nutrition", "consumables", unspsc="42230000"),
    Node("medical-devices", "Medical devices"),
    Node("cardiovascular-devices", "Cardiocirculatory devices", "medical-devices", emdn="C"),
    Node("active-implants", "Active implantable devices", "medical-devices", emdn="J"),
    Node("implants", "Implants and osteosynthesis devices", "medical-devices", emdn="P"),
    Node("neurology-devices", "Nervous and medullary devices", "medical-devices", emdn="N"),
    Node("surgical-instruments", "Surgical instruments", "medical-devices", unspsc="42290000", emdn="L"),
    Node("endotherapy-devices", "Endotherapy and electrosurgical devices", "medical-devices", emdn="K"),
    Node("orthopedic-products", "Orthopedic products", "medical-devices", unspsc="42240000"),
    Node(
        "independent-living-aids", "Aids for persons with disabilities", "medical-devices", unspsc="42210000", emdn="Y"
    ),
    Node("laboratory", "Laboratory"),
    Node("in-vitro-diagnostics", "In vitro diagnostics", "laboratory", emdn="W"),
    Node("laboratory-reagents", "Laboratory reagents", "laboratory"),
    Node("laboratory-supplies", "Laboratory supplies and fixtures", "laboratory", unspsc="41120000"),
    Node("laboratory-equipment", "Laboratory and scientific equipment", "laboratory", unspsc="41100000"),
    Node("equipment", "Medical equipment", emdn="Z"),
    Node("patient-monitoring", "Patient examination and monitoring", "equipment", unspsc="42180000"),
    Node("medical-imaging", "Diagnostic imaging and nuclear medicine", "equipment", unspsc="42200000"),
    Node("anesthesia-and-ventilation", "Anesthesia and ventilation equipment", "equipment", unspsc="42270000"),
    Node("dialysis-equipment", "Dialysis equipment", "equipment", unspsc="42160000"),
    Node("emergency-equipment", "Emergency and field equipment", "equipment", unspsc="42170000"),
    Node("facility-equipment", "Medical facility equipment", "equipment", unspsc="42190000"),
    Node("services", "Services", unspsc="85000000"),
    Node("maintenance-and-calibration", "Maintenance and calibration", "services"),
    Node("training", "Training", "services"),
)


def seed_taxonomy(using: str) -> None:
    """Create and update the platform's categories to match `TREE`.

    A category that is no longer in the tree becomes inactive; it is not deleted, because products may name it.
    """
    rows = PlatformCategory.objects.using(using)
    present = {row.code: row for row in rows.all()}
    for position, node in enumerate(TREE):
        wanted: dict[str, Any] = {
            "name": node.name,
            "parent_id": present[node.parent].id if node.parent else None,
            "position": position,
            "mappings": node.mappings,
            "active": True,
        }
        row = present.get(node.code)
        if row is None:
            present[node.code] = rows.create(id=node.id, code=node.code, **wanted)
            continue
        del wanted["mappings"]  # the staff may have changed them
        if any(getattr(row, name) != value for name, value in wanted.items()):
            for name, value in wanted.items():
                setattr(row, name, value)
            row.save_version(*wanted, at=clock.now())
    gone = set(present) - {node.code for node in TREE}
    for row in (present[code] for code in sorted(gone)):
        if row.active:
            row.active = False
            row.save_version("active", at=clock.now())
