"""The Kubernetes HTTP API of one lab: framing only."""
