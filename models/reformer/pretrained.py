"""The trained networks as they are shipped."""

from models.pretrained import described, loader
from models.reformer.model import Config, Reformer

SLUG = "reformer"
read, load = loader(SLUG, described(Reformer, Config), "lsh_4")
