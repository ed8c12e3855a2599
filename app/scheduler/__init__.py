"""The scheduling engine: pure functions of nodes, pods and a profile (pkg/scheduler)."""
