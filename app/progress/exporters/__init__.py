"""Exports of results, one module a format."""
