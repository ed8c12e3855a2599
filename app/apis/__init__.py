"""Object kinds and questions about them (k8s.io/api, component-helpers)."""
