"""Scheduler plugins, one module each; they do not know one another."""
