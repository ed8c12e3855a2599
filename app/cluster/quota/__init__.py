"""What objects use of a quota, for the admission plugin and the controller alike (pkg/quota/v1)."""
