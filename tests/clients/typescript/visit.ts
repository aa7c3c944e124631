// Three calls with the generated types: create a product, list products, and be refused.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Product = components["schemas"]["Product"];
type Wanted = components["schemas"]["ProductCreateRequest"];

const [base, key, tenant, sku] = process.argv.slice(2) as [string, string, string, string];
const client = createClient<paths>({ baseUrl: base, headers: { "X-API-Key": key, "X-Tenant-Id": tenant } });
const wanted: Wanted = {
  supplier_sku: sku,
  name: "Gloves",
  category: "consumables",
  kind: "consumable",
  base_unit: "EA",
  packagings: [{ level: "each", units_per_pack: 1 }],
};

const made = await client.POST("/v1/products", { params: { header: { "Idempotency-Key": sku } }, body: wanted });
if (made.error) throw new Error(made.error.code);
const product: Product = made.data.data;

const listed = await client.GET("/v1/products", { params: { query: { limit: 5 } } });
if (listed.error) throw new Error(listed.error.code);
const shown: Product | undefined = listed.data.data.items[0];

const refused = await client.POST("/v1/products", { body: wanted });
if (!refused.error) throw new Error("a taken SKU was taken again");
// The code tells the problems apart: only with this one the compiler knows `allowed`.
if (refused.error.code === "unknown_parameter") throw new Error(`allowed: ${refused.error.allowed.join()}`);

console.log(JSON.stringify({ id: product.id, listed: shown?.id, total: listed.data.data.total, code: refused.error.code }));
