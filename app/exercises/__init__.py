"""Exercises: their format, loading, checks, grading and proof."""
