"""The image lab: pictures grow pixel by pixel, each pixel looking at a block already made, in rows or in tiles."""
