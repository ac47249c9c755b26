"""Visitors without a browser: the real calls of a page are recorded once from a real browser, then
played again by as many visitors as needed."""
