"""CKA scheduling practice lab."""
