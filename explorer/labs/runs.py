"""What the pages with handlers of their own import from `explorer.runs`."""

from explorer.runs import ASSETS, Run, Stored, as_stored, first

__all__ = ["ASSETS", "Run", "Stored", "as_stored", "first"]
