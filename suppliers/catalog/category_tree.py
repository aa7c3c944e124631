"""The platform's categories and the tenant's own categories as one tree."""

from core.conditions import TENANT
from core.trees import Tree

MAX_DEPTH = 8

CATEGORIES = Tree(
    f"""(SELECT id, code, parent_id FROM suppliers_platformcategory
 UNION ALL SELECT id, code, parent_id FROM suppliers_category WHERE tenant_id = {TENANT})""",
    most=2 * MAX_DEPTH,
)

# `path` sorts the tree depth first; `product_count` holds what `GET /v1/products?category=` finds.
COUNTED = f"""(
WITH RECURSIVE node AS (
 SELECT id, code, name, parent_id, mappings, active, 'platform' AS source, created_at, updated_at, version,
  lpad(position::text, 4, '0') AS step FROM suppliers_platformcategory
 UNION ALL SELECT c.id, c.code, c.name, c.parent_id, c.mappings, c.active, 'own', c.created_at, c.updated_at, c.version,
  'x' || c.code FROM suppliers_category c WHERE c.tenant_id = {TENANT}),
tree AS (
 SELECT node.*, 1 AS depth, step AS path FROM node WHERE parent_id IS NULL
 UNION ALL SELECT node.*, tree.depth + 1, tree.path || '/' || node.step FROM node JOIN tree ON node.parent_id = tree.id
  WHERE tree.depth < {MAX_DEPTH}),
counted AS (
 SELECT p.category, count(*) AS n FROM suppliers_product p
 WHERE p.tenant_id = {TENANT} AND p.archived_at IS NULL GROUP BY p.tenant_id, p.category)
SELECT tree.*, {TENANT}::uuid AS tenant_id, (
 SELECT coalesce(sum(counted.n), 0)::bigint FROM tree below JOIN counted ON counted.category = below.code
 WHERE below.path = tree.path OR starts_with(below.path, tree.path || '/')) AS product_count
FROM tree)"""
