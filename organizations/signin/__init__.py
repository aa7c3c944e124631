"""First-party sign-in: passwords, sessions, second factors, invitations and the mails that belong to them."""
