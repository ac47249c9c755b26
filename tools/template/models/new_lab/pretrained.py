"""The trained network as it is shipped."""

from models.checkpoints.pretrained import describe_builder, make_loader
from models.new_lab.model import Config, Reverser

SLUG = "new_lab"
read, load = make_loader(SLUG, describe_builder(Reverser, Config), "base")
