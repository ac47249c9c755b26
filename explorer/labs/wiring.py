"""What the pages with handlers of their own import from `explorer.wiring`."""

from explorer.wiring import HOW, detail, following, halting, network, session, whole

__all__ = ["HOW", "detail", "following", "halting", "network", "session", "whole"]
