"""The labs, in teaching order. A lab is added by its lines here and removed by deleting them together with its folders."""

from __future__ import annotations

from explorer.lab import Lab
from explorer.labs.act_rnn.page import LAB as ACT_RNN
from explorer.labs.adaptive_span.page import LAB as ADAPTIVE_SPAN
from explorer.labs.image_transformer.page import LAB as IMAGE_TRANSFORMER
from explorer.labs.music.page import LAB as MUSIC
from explorer.labs.reformer.page import LAB as REFORMER
from explorer.labs.sparse_transformer.page import LAB as SPARSE_TRANSFORMER
from explorer.labs.transformer_xl.page import LAB as TRANSFORMER_XL
from explorer.labs.translation.page import LAB as TRANSLATION
from explorer.labs.universal_transformer.page import LAB as UNIVERSAL_TRANSFORMER

LABS: tuple[Lab, ...] = (
    TRANSLATION,
    IMAGE_TRANSFORMER,
    MUSIC,
    TRANSFORMER_XL,
    ADAPTIVE_SPAN,
    SPARSE_TRANSFORMER,
    REFORMER,
    ACT_RNN,
    UNIVERSAL_TRANSFORMER,
)
