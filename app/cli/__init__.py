"""The command line cka-lab, one module a command."""
