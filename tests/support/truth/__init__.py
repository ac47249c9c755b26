"""Checks that the sentences of the pages are true of their drawings."""
