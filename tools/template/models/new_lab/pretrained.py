"""The trained network as it is shipped."""

from models.new_lab.model import Config, Reverser
from models.pretrained import described, loader

SLUG = "new_lab"
read, load = loader(SLUG, described(Reverser, Config), "base")
