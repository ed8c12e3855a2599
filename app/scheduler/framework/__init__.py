"""The framework that plugins are written against (pkg/scheduler/framework)."""
