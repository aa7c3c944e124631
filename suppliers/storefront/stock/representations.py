"""What a buyer reads of suppliers' stock."""

from rest_framework import serializers

from api.representations import OpenChoice
from suppliers.catalog.states import Availability
from suppliers.inventory.reservations.representations import ReceivedReservationOut


class IncomingOut(serializers.Serializer[None]):
    """Packs that are expected on a day."""

    date = serializers.DateField()
    quantity = serializers.IntegerField()


class OwnLimitOut(serializers.Serializer[None]):
    """What the buyer may take of an offer during a shortage, in packs."""

    quantity = serializers.IntegerField()
    remaining = serializers.IntegerField()
    until = serializers.DateField()


class AvailabilityOut(serializers.Serializer[None]):
    """The stock behind one offer, as the supplier tells it; quantities are packs."""

    product_id = serializers.UUIDField()
    supplier_id = serializers.UUIDField()
    offer_id = serializers.UUIDField()
    status = OpenChoice(choices=Availability.choices)
    quantity = serializers.IntegerField(allow_null=True, help_text="null where the supplier tells a band, or nothing")
    band = serializers.CharField(allow_null=True, help_text="`0`, `1-9`, `10-99` or `100+`")
    orderable_quantity = serializers.BooleanField(
        allow_null=True, help_text="whether the asked `quantity` can be reserved at once; null where none is asked"
    )
    earliest_expiry = serializers.DateField(allow_null=True)
    latest_expiry = serializers.DateField(allow_null=True)
    incoming = IncomingOut(many=True)
    lead_time_days = serializers.IntegerField(allow_null=True)
    allocation = OwnLimitOut(allow_null=True)
    as_of = serializers.DateTimeField()
    reservations = ReceivedReservationOut(many=True)
