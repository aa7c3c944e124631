"""Addresses of first-party sign-in, under /v1/auth/."""

from django.urls import path

from .views import FactorViewSet, InvitationViewSet, PasswordViewSet, TokenViewSet

urlpatterns = [
    path("token", TokenViewSet.as_view({"post": "create"})),
    path("token/refresh", TokenViewSet.as_view({"post": "refresh"})),
    path("token/revoke", TokenViewSet.as_view({"post": "revoke"})),
    path("invitations/<str:token>/accept", InvitationViewSet.as_view({"post": "accept"})),
    path("password/reset", PasswordViewSet.as_view({"post": "reset"})),
    path("password/confirm", PasswordViewSet.as_view({"post": "confirm"})),
    path("mfa/enroll", FactorViewSet.as_view({"post": "enroll"})),
    path("mfa/verify", FactorViewSet.as_view({"post": "verify"})),
]
