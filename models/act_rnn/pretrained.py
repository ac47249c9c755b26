"""The shipped networks."""

from models.act_rnn.model import Config, PonderingNetwork
from models.checkpoints.pretrained import describe_builder, make_loader

SLUG = "act_rnn"
read, load = make_loader(SLUG, describe_builder(PonderingNetwork, Config), "parity")
