"""The trained networks as they are shipped."""

from models.act_rnn.model import Config, PonderingNetwork
from models.pretrained import described, loader

SLUG = "act_rnn"
read, load = loader(SLUG, described(PonderingNetwork, Config), "parity")
