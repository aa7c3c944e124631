"""Makes room for the quantity of 99 fills, and for the pharmacist as a resource of the record.

Safe: the tables are unreleased; a wider numeric and a column with a constant default rewrite no row.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("prescriptions", "0003_guards")]

    operations = [
        migrations.AddField(
            model_name="dispensation",
            name="practitioner_id",
            field=models.CharField(blank=True, db_collation="C", default="", max_length=64),
        ),
        migrations.AlterField(
            model_name="prescriptionitem",
            name="dispensed_quantity",
            field=models.DecimalField(decimal_places=4, default=0, max_digits=16),
        ),
    ]
