# One-line names for ./dev, which does the work.
.PHONY: up test check demo bench shell reset down doctor lock
up test check demo bench shell reset down doctor lock:
	./dev $@
