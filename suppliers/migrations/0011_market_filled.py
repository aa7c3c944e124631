"""Fills the marks, audiences and search terms of the market from the offers that there are.

Safe: it changes rows only.
"""

import hashlib
import json

from django.db import migrations

FILL = [
    "UPDATE suppliers_product p SET offered = true WHERE EXISTS (SELECT 1 FROM suppliers_offer o"
    " WHERE o.tenant_id = p.tenant_id AND o.product_id = p.id AND o.on_market)",
    "UPDATE suppliers_packaging k SET on_market = true FROM suppliers_product p"
    " WHERE p.tenant_id = k.tenant_id AND p.id = k.product_id AND p.on_market",
    "UPDATE suppliers_listprice l SET on_market = true FROM suppliers_product p"
    " WHERE p.tenant_id = l.tenant_id AND p.id = l.product_id AND p.on_market",
    "INSERT INTO suppliers_marketword (tenant_id, audience_id, word, product_id)"
    " SELECT DISTINCT o.tenant_id, o.audience_id, n.word, o.product_id FROM suppliers_offer o"
    " JOIN suppliers_product p ON p.tenant_id = o.tenant_id AND p.id = o.product_id"
    " CROSS JOIN LATERAL (SELECT '' AS word UNION ALL SELECT w.word FROM suppliers_productword w"
    " WHERE w.tenant_id = o.tenant_id AND w.product_id = o.product_id) n"
    " WHERE o.on_market AND p.on_market AND o.visibility_mode <> 'private' ON CONFLICT DO NOTHING",
]


def share_audiences(apps, schema_editor):
    """Give each choice of buyers one audience; until now each offer had its own."""
    alias = schema_editor.connection.alias
    offers, members, audiences = (
        apps.get_model("suppliers", name).objects.using(alias) for name in ("Offer", "AudienceMember", "Audience")
    )
    for offer in offers.filter(visibility_mode="selected").order_by("id"):
        mine = members.filter(tenant_id=offer.tenant_id, audience_id=offer.id)
        named = sorted(str(one) for one in mine.values_list("member_tenant_id", flat=True))
        digest = hashlib.sha256(json.dumps([named, [], []], separators=(",", ":")).encode()).hexdigest()
        audience, made = audiences.get_or_create(
            tenant_id=offer.tenant_id, digest=digest, defaults={"id": offer.id, "tenant_ids": named}
        )
        if not made:
            mine.delete()
            offers.filter(pk=offer.pk, tenant_id=offer.tenant_id).update(audience_id=audience.id)


class Migration(migrations.Migration):
    """Data only; backward there is nothing to do."""

    dependencies = [("suppliers", "0010_market")]

    operations = [
        migrations.RunPython(share_audiences, migrations.RunPython.noop),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
