"""The specification of a tenant as commands read it."""

from rest_framework import serializers

from api.serializers import StrictSerializer

from .tenancy import TenantIn


class SpecMemberIn(StrictSerializer):
    """A person who is invited while the tenant is provisioned, with any roles."""

    email = serializers.EmailField(max_length=254)
    name = serializers.CharField(max_length=200, required=False)
    roles = serializers.ListField(child=serializers.SlugField(max_length=60), min_length=1)


class SpecIn(TenantIn):
    """The body of `POST /v1/tenants`, with the organization by slug and further first members."""

    organization = serializers.SlugField(max_length=80, required=False)
    organization_name = serializers.CharField(max_length=200, required=False)
    members = SpecMemberIn(many=True, required=False, max_length=200)  # type: ignore[call-arg]  # the stubs do not know many=True
