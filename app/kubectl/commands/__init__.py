"""kubectl commands, one module a verb."""
