"""The values that cross to the browser: packed arrays, exact rows, compressed files.

This package imports nothing above itself.
"""
