"""Pages of the authorization server: consent, sign-in, sign-out, and the pages that links in mails open."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib.auth import login, logout
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.generic import FormView, View
from oauth2_provider.exceptions import OAuthToolkitError
from oauth2_provider.views import AuthorizationView

from api.authentication import authenticator
from core import clock
from core.errors import PlatformError, Unauthenticated
from core.ids import parse_uuid
from organizations import smart
from organizations.models import OAuthApplication, User
from organizations.queries.memberships import clinical_tenants
from organizations.signin import actions, passwords, resets, totp
from organizations.signin.limits import network_of
from organizations.signin.sessions import MFA, PASSWORD, Bound, Proof

from .forms import ConsentForm, InvitationForm, NewPasswordForm, SignInForm
from .requests import QUERY_PARAMETERS, fault_in
from .scopes import ClientScopes, is_grantable

BACKEND = "django.contrib.auth.backends.ModelBackend"
MAX_NONCE = 255
_PROOF = "sign_in_proof"
_TEMPLATES = "organizations/oauth"


class ConsentPage(AuthorizationView):  # type: ignore[misc]  # the library has no types
    """Asks for consent, and redirects to the client with an authorization code. Source: RFC 6749 section 4.1."""

    _bound: Bound | None = None
    template_name = f"{_TEMPLATES}/consent.html"
    form_class = ConsentForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Refuse malformed parameters; require a new sign-in where the client asks for a fresher or stronger one."""
        wrong = fault_in(request.GET, known=QUERY_PARAMETERS)
        if wrong or len(request.GET.get("nonce", "")) > MAX_NONCE:
            return _refusal_page(request, wrong or "The parameter nonce is too long.")
        if request.method == "GET" and (refused := self._refused_unasked(request)):
            return refused
        if request.user.is_authenticated and request.method == "GET" and self._wants_new_sign_in(request):
            return self.handle_no_permission()
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer

    def handle_no_permission(self) -> HttpResponseBase:
        """Redirect to sign-in; without this, Django would answer 403 to a person who is signed in but must sign in again."""
        if self.request.user.is_authenticated:
            self.raise_exception = False
            return HttpResponseRedirect(_sign_in_address(self.request.get_full_path()))
        answer: HttpResponseBase = super().handle_no_permission()
        return answer

    def _refused_unasked(self, request: HttpRequest) -> HttpResponseBase | None:
        """Refuse what no sign-in can mend before the person is asked for a password: the client, or its request."""
        client = _client_of(request)
        if client is not None and not client.is_usable(request):
            return _refusal_page(request, f"The application {client.name} is not approved for use here.")
        if request.user.is_authenticated:
            return None
        try:
            self.validate_authorization_request(request)
        except OAuthToolkitError as error:
            answer: HttpResponseBase = self.error_response(error, application=client)
            return answer
        return None

    def redirect(self, redirect_to: str, application: OAuthApplication | None) -> HttpResponseBase:
        """Return to the client, also with a refusal, by the schemes that it may have."""
        answer: HttpResponseBase = super().redirect(redirect_to, application or _client_of(self.request))
        return answer

    def get_form_kwargs(self) -> dict[str, Any]:
        """Add the tenants whose patients the person may choose."""
        arguments: dict[str, Any] = super().get_form_kwargs()
        return arguments | {"tenants": clinical_tenants(self.request.user.pk)}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add whether the person has to choose a patient."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"choosing": smart.of_one_patient(context.get("scopes") or ())}

    def form_invalid(self, form: Any) -> HttpResponseBase:
        """Show the form again if tenant or patient is wrong; refuse a form with any other fault."""
        client = OAuthApplication.objects.filter(client_id=form.cleaned_data.get("client_id", "")).first()
        if client is None or set(form.errors) - {"tenant", "patient"}:
            return _refusal_page(
                self.request, "The request has expired or was changed; start again in the application."
            )
        scopes = form.cleaned_data["scope"].split()
        shown = {"application": client, "redirect_uri": form.cleaned_data["redirect_uri"], "scopes": scopes}
        known = ClientScopes().get_all_scopes()
        descriptions = [known[scope] for scope in scopes if is_grantable(client, scope)]
        context = self.get_context_data(form=form, scopes_descriptions=descriptions, **shown)
        answer: HttpResponseBase = self.render_to_response(context, status=400)
        return answer

    def form_valid(self, form: Any) -> HttpResponseBase:
        """Process the person's answer, if the client still exists."""
        data = form.cleaned_data
        if smart.of_one_patient(data["scope"].split()) and data["allow"]:
            self._bound = Bound(UUID(data["tenant"]), data["patient"])
        if not OAuthApplication.objects.filter(client_id=form.cleaned_data["client_id"]).exists():
            return _refusal_page(self.request, "The client is unknown.")
        answer: HttpResponseBase = super().form_valid(form)
        return answer

    def create_authorization_response(
        self, request: HttpRequest, scopes: str, credentials: dict[str, Any], allow: bool
    ) -> Any:
        """Store with the code how the person signed in, for the claims of its tokens, and which redirect URI was named."""
        is_default = "client_id" in request.GET and "redirect_uri" not in request.GET
        known = {
            **credentials, "proof": proof_of(request), "bound": self._bound, "default_redirect": is_default,
        }  # fmt: skip
        with transaction.atomic():
            return super().create_authorization_response(request, scopes, known, allow)

    def _wants_new_sign_in(self, request: HttpRequest) -> bool:
        proof = proof_of(request)
        max_age = request.GET.get("max_age", "")
        if max_age.isascii() and max_age.isdigit() and (clock.now() - proof.at).total_seconds() > int(max_age[:9]) + 1:
            return True
        wanted = request.GET.get("acr_values", "").split()
        user_id = parse_uuid(str(request.user.pk))
        return MFA in wanted and proof.acr != MFA and user_id is not None and totp.is_enrolled(user_id)


class SignInPage(FormView):  # type: ignore[type-arg]  # Django has no generics at run time
    """Sign-in with e-mail address, password and, if enrolled, a code of the second factor."""

    template_name = f"{_TEMPLATES}/sign_in.html"
    form_class = SignInForm

    def form_valid(self, form: SignInForm) -> HttpResponse:
        """Sign the person in, and redirect to the page that asked for the sign-in."""
        data, at = form.cleaned_data, clock.now()
        try:
            network = network_of(self.request)
            user = passwords.authenticate(email=data["email"], password=data["password"], network=network, at=at)
            stepped_up = totp.demand(user.pk, code=data["code"], at=at)
        except PlatformError as refusal:
            if isinstance(refusal, Unauthenticated):
                authenticator().report(refusal, self.request, None)
            form.add_error(None, refusal.detail)
            return self.form_invalid(form)
        proof = Proof(MFA, ("pwd", "otp"), at) if stepped_up else Proof(PASSWORD, ("pwd",), at)
        login(self.request, user, backend=BACKEND)
        self.request.session[_PROOF] = {"acr": proof.acr, "amr": list(proof.amr), "at": proof.at.timestamp()}
        User.objects.filter(pk=user.pk).update(last_sign_in_at=at)
        return HttpResponseRedirect(self._next_address())

    def form_invalid(self, form: SignInForm) -> HttpResponse:
        """Show the form again, without the password."""
        return self.render_to_response(self.get_context_data(form=form), status=400)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the address to redirect to."""
        return super().get_context_data(**kwargs) | {"next": self._next_address()}

    def _next_address(self) -> str:
        wanted = self.request.POST.get("next") or self.request.GET.get("next") or ""
        own = {self.request.get_host()}
        safe = url_has_allowed_host_and_scheme(wanted, allowed_hosts=own, require_https=self.request.is_secure())
        return wanted if safe else "/oauth/login/done"


class SignOutPage(View):
    """Ends the browser's session."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Ask for confirmation."""
        return render(request, f"{_TEMPLATES}/sign_out.html")

    def post(self, request: HttpRequest) -> HttpResponse:
        """Sign out."""
        logout(request)
        return _message_page(request, "You are signed out.")


class InvitationPage(FormView):  # type: ignore[type-arg]  # Django has no generics at run time
    """The page that the link of an invitation opens."""

    template_name = f"{_TEMPLATES}/invitation.html"
    form_class = InvitationForm

    def get_initial(self) -> dict[str, Any]:
        """Fill in the token of the link."""
        return {"token": self.request.GET.get("token", "")}

    def form_valid(self, form: InvitationForm) -> HttpResponse:
        """Accept the invitation."""
        try:
            actions.accept_invitation(**form.cleaned_data, at=clock.now())
        except PlatformError as refusal:
            return self._show_refusal(form, refusal)
        return _message_page(self.request, "You are a member now. Open the application and sign in.")

    def _show_refusal(self, form: InvitationForm, refusal: PlatformError) -> HttpResponse:
        for message in [fault.message for fault in refusal.errors] or [refusal.detail]:
            form.add_error(None, message)
        return self.render_to_response(self.get_context_data(form=form), status=400)


class NewPasswordPage(FormView):  # type: ignore[type-arg]  # Django has no generics at run time
    """The page that the link of a password mail opens."""

    template_name = f"{_TEMPLATES}/new_password.html"
    form_class = NewPasswordForm

    def get_initial(self) -> dict[str, Any]:
        """Fill in the token of the link."""
        return {"token": self.request.GET.get("token", "")}

    def form_valid(self, form: NewPasswordForm) -> HttpResponse:
        """Set the password."""
        try:
            with transaction.atomic():
                resets.confirm(**form.cleaned_data, at=clock.now())
        except PlatformError as refusal:
            for message in [fault.message for fault in refusal.errors] or [refusal.detail]:
                form.add_error(None, message)
            return self.render_to_response(self.get_context_data(form=form), status=400)
        return _message_page(self.request, "Your password is set. You were signed out everywhere; sign in again.")


def signed_in(request: HttpRequest) -> HttpResponse:
    """Show the page after a sign-in that no other page asked for."""
    return _message_page(request, "You are signed in.")


def proof_of(request: HttpRequest) -> Proof:
    """Return how the person of this browser session signed in; a sign-in to the admin counts as one by password."""
    kept = request.session.get(_PROOF)
    if not kept:
        at = getattr(request.user, "last_sign_in_at", None) or clock.now()
        return Proof(PASSWORD, ("pwd",), at)
    return Proof(kept["acr"], tuple(kept["amr"]), datetime.fromtimestamp(kept["at"], clock.now().tzinfo))


def _client_of(request: HttpRequest) -> OAuthApplication | None:
    found: OAuthApplication | None = OAuthApplication.objects.filter(client_id=request.GET.get("client_id", "")).first()
    return found


def _sign_in_address(back_to: str) -> str:
    return f"{settings.LOGIN_URL}?{urlencode({'next': back_to})}"


def _message_page(request: HttpRequest, message: str) -> HttpResponse:
    return render(request, f"{_TEMPLATES}/message.html", {"message": message})


def _refusal_page(request: HttpRequest, message: str) -> HttpResponse:
    return render(request, f"{_TEMPLATES}/message.html", {"message": message, "refused": True}, status=400)
