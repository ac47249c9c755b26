"""Image Transformer and a gated PixelCNN, which generate pictures pixel by pixel."""
