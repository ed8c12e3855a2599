"""What the server prints of each kind in a Table: one module per API group, joined in `apiserver/tables.py`.

Mirrors pkg/printers/internalversion/printers.go: AddHandlers.
"""
