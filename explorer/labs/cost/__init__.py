"""The laboratory of cost and of attention itself: layers timed beside their formulas, the softmax and its scale, a convolution of heads."""
