"""Foundation of the staff's admin: sign-in, roles, the acting tenant, buttons, audit."""
