"""Make three calls with the generated client: create a product, list products, and be refused."""

import json
import sys

from platform_client import AuthenticatedClient
from platform_client.api.products import create_product, list_products
from platform_client.models.packaging_request import PackagingRequest
from platform_client.models.packaging_request_level import PackagingRequestLevel
from platform_client.models.product_create_request import ProductCreateRequest
from platform_client.models.product_create_request_kind import ProductCreateRequestKind
from platform_client.models.product_page import ProductPage
from platform_client.models.product_response import ProductResponse
from platform_client.models.sku_taken_problem import SkuTakenProblem


def visit(base: str, key: str, tenant: str, sku: str) -> dict[str, object]:
    """Return what the three answers said."""
    client = AuthenticatedClient(base, key, prefix="", auth_header_name="X-API-Key", headers={"X-Tenant-Id": tenant})
    wanted = ProductCreateRequest(
        supplier_sku=sku,
        name="Gloves",
        category="consumables",
        kind=ProductCreateRequestKind.CONSUMABLE,
        base_unit="EA",
        packagings=[PackagingRequest(level=PackagingRequestLevel.EACH, units_per_pack=1)],
    )
    made = create_product.sync(client=client, body=wanted, idempotency_key=sku)
    assert isinstance(made, ProductResponse), made
    listed = list_products.sync(client=client, limit=5)
    assert isinstance(listed, ProductPage), listed
    refused = create_product.sync(client=client, body=wanted)
    assert isinstance(refused, SkuTakenProblem), refused
    shown = listed.data.items[0]
    return {"id": str(made.data.id), "listed": str(shown.id), "total": listed.data.total, "code": refused.code.value}


if __name__ == "__main__":
    print(json.dumps(visit(*sys.argv[1:])))
