"""The shipped networks."""

from models.checkpoints.pretrained import build_by_variant, describe_builder, make_loader
from models.evaluation.picture_classifier import Classifier, ClassifierConfig
from models.sagan.model import AdversarialPair, Config

SLUG = "sagan"
CLASSIFIER = "classifier"  # the variant that measures
_judge = describe_builder(Classifier, ClassifierConfig)
_build = build_by_variant(describe_builder(AdversarialPair, Config), {CLASSIFIER: _judge})
read, load = make_loader(SLUG, _build, "attention")
