"""Addresses of first-party sign-in, under /v1/auth/."""

from api.routing import Router

from .views import FactorViewSet, InvitationViewSet, PasswordViewSet, TokenViewSet

router = Router()
router.register("token", TokenViewSet, basename="token")
router.register("invitations", InvitationViewSet, basename="invitation")
router.register("password", PasswordViewSet, basename="password")
router.register("mfa", FactorViewSet, basename="mfa")

urlpatterns = router.urls
