"""An offer is published once the media that show it, or its product, are scanned."""

import json
from typing import Any

from core.clock import now
from suppliers.files.scanning import scan_files
from tests.suppliers.files.samples import png, upload
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.inventory.test_offers import OFFERS, draft


def test_media_that_nobody_has_scanned_yet_keep_an_offer_from_being_published() -> None:
    shelf = shelves.shelf()
    product = shelf.product()
    offer = draft(shelf, product)
    path = f"{OFFERS}/{offer['id']}"

    def checks() -> dict[str, Any]:
        return {one["name"]: one["passed"] for one in shelf.api.get(path).json()["data"]["checks"]}

    for kind, key in (("product", product["id"]), ("offer", offer["id"])):
        bound = [{"resource_type": kind, "resource_id": key, "role": "main"}]
        upload(shelf.api, png(kind), bindings=json.dumps(bound))
        assert refused(shelf.api.post(f"{path}/publish"), 409, "offer_incomplete")["checks"] == ["media_scanned"]
        assert not checks()["media_scanned"]
        scan_files(at=now())
        assert checks()["media_scanned"]
    assert shelf.api.post(f"{path}/publish").status_code == 200
