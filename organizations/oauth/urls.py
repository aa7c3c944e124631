"""Addresses of the authorization server, without trailing slashes, exactly as its metadata names them."""

from django.urls import path

from . import metadata, pages, views

urlpatterns = [
    path("oauth/authorize", pages.ConsentPage.as_view()),
    path("oauth/token", views.TokenEndpoint.as_view()),
    path("oauth/revoke", views.RevocationEndpoint.as_view()),
    path("oauth/introspect", views.IntrospectionEndpoint.as_view()),
    path("oauth/userinfo", views.userinfo),
    path("oauth/.well-known/openid-configuration", metadata.openid_provider),
    path("oauth/.well-known/jwks.json", metadata.key_set),
    path("oauth/.well-known/oauth-authorization-server", metadata.authorization_server),
    path(".well-known/oauth-authorization-server", metadata.authorization_server),
    path(".well-known/oauth-authorization-server/oauth", metadata.authorization_server),
    path(".well-known/prescription-jwks.json", metadata.prescription_key_set),
    path("oauth/login", pages.SignInPage.as_view()),
    path("oauth/login/done", pages.signed_in),
    path("oauth/logout", pages.SignOutPage.as_view()),
    path("oauth/invitation", pages.InvitationPage.as_view()),
    path("oauth/password", pages.NewPasswordPage.as_view()),
]
