"""Postal addresses, as bodies and answers have them."""

from typing import ClassVar

from rest_framework import serializers

from .serializers import StrictSerializer


class AddressIn(StrictSerializer):
    """A postal address."""

    lines = serializers.ListField(child=serializers.CharField(max_length=200), max_length=5, required=False)
    city = serializers.CharField(max_length=120, required=False)
    state = serializers.CharField(max_length=120, required=False)
    postal_code = serializers.CharField(max_length=20, required=False)
    country = serializers.RegexField(r"^[A-Z]{2}$", required=False)

    class Meta:
        example: ClassVar = {"lines": ["1 North Street"], "city": "Bergen", "postal_code": "5003", "country": "NO"}
