"""Embedders: text to unit vectors. `base` is the protocol, `static` the default, `onnx` the extra."""
