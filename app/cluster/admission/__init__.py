"""Admission plugins, one module each."""
