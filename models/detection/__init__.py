"""DETR: objects in a picture as a set, found by queries that agree who sees what."""
