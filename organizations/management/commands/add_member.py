"""`manage.py add_member`: gives a person roles in a tenant; a person without a password is invited."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_email
from django.db import transaction
from django.forms import ValidationError

from core import clock
from core.actor import Actor, system_actor
from core.db import tenant_context
from organizations.actions import memberships
from organizations.management.base import TenantCommand, locked_tenant
from organizations.models import LIVE, Membership, User
from organizations.signin import invitations


class Command(TenantCommand):
    """Add a member."""

    help = "Gives a person roles in a tenant, by invitation if they have no password. A later run adds missing roles."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add arguments for tenant, person and roles."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--email", required=True)
        parser.add_argument("--name", default="")
        parser.add_argument("--role", required=True, action="append", dest="roles")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Add or invite the person, or add roles to their membership."""
        email = options["email"].strip().lower()
        try:
            validate_email(email)
        except ValidationError as error:
            raise CommandError(f"{email!r} is not an e-mail address.") from error
        with transaction.atomic():
            tenant = locked_tenant(options["tenant"])
            actor = system_actor(tenant.id)
            with tenant_context(tenant.id):
                membership, link, changed = _add_or_extend(actor, email, options)
        return {
            "tenant_id": str(tenant.id),
            "membership_id": str(membership.id),
            "user_id": str(membership.user_id),
            "status": membership.status,
            "roles": membership.roles,
            "changed": changed,
            "invitation": link,
        }


def _add_or_extend(actor: Actor, email: str, options: dict[str, Any]) -> tuple[Membership, str | None, bool]:
    at = clock.now()
    roles = tuple(dict.fromkeys(options["roles"]))
    live = Membership.objects.select_for_update(no_key=True).filter(tenant_id=actor.tenant_id, status__in=LIVE)
    found = live.filter(user__email=email).first()
    if found is not None:
        wanted = [*found.roles, *(role for role in roles if role not in found.roles)]
        changed = wanted != found.roles
        memberships.change_membership(actor=actor, membership=found, data={"roles": wanted}, at=at)
        return found, None, changed
    person = User.objects.filter(email=email).first()
    terms = memberships.Terms(roles=roles)
    if person is not None and person.has_usable_password():
        return memberships.add_member(actor=actor, user=person, terms=terms, at=at), None, True
    made, token = memberships.invite_member(actor=actor, email=email, name=options["name"], terms=terms, at=at)
    return made, invitations.link(token), True
