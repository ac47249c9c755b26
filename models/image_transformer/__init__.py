"""Image Transformer and a gated PixelCNN: pictures, pixel by pixel."""
