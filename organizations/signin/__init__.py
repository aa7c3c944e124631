"""First-party sign-in: passwords, sessions, second factors, invitations and their mails."""
