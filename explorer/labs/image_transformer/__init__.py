"""The image lab: pictures grow pixel by pixel, each pixel looking at a block generated before it,
in rows or in tiles."""
