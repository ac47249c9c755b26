"""Visitors without a browser: what a page really asks is recorded once from a real browser, then played again by as many as wanted."""
