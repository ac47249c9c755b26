"""What the tests in a browser take from tests/pages.py, where their fixtures stand for all folders."""

from tests.pages import ARGUMENTS, PATIENCE, Faults, watch

__all__ = ["ARGUMENTS", "PATIENCE", "Faults", "watch"]
