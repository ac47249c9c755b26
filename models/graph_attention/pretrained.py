"""The trained networks, and the papers of Cora beside them."""

from __future__ import annotations

from functools import lru_cache

from models.checkpoints import checkpoint, folders
from models.checkpoints.pretrained import describe_builder, make_loader
from models.explaining.errors import reading_file
from models.graph_attention.data import FILE, Papers, read_papers
from models.graph_attention.model import Config, build_network

SLUG = "graph_attention"
read, load = make_loader(SLUG, describe_builder(build_network, Config), "cora")


@lru_cache(maxsize=1)
def load_papers() -> Papers:
    """Return the papers of Cora. Raise DamagedFile where the file cannot be read."""
    path = folders.find_lab_folder(SLUG, checkpoint.ASSETS) / FILE
    with reading_file(path):
        return read_papers(path)
