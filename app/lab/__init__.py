"""Use cases that join exercises, clusters and progress: start, apply, check, submit, reset."""
