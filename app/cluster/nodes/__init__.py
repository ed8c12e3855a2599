"""Simulated machines and their kubelets."""
