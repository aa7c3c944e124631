"""Messages between the parties of a document, alerts of what needs attention, and the mails that tell of both."""
