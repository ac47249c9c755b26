"""The lab of cost and of attention itself: layers timed beside their formulas, the softmax and its
scale, a convolution made of heads."""
