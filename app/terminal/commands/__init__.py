"""Shell commands that the library lacks or does otherwise."""
