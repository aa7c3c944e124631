"""What every page of the staff's admin stands on: sign-in, roles, the acting tenant, buttons, audit."""
