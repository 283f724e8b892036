# SPDX-License-Identifier: Apache-2.0
"""Asks ONNX Runtime for a session on the GPU and prints what it got. The model is y = x."""

import onnxruntime


def field(number, content):
    """A protobuf field: an integer, or bytes with their length."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content


def value(name):
    one_float = field(1, 1) + field(2, field(1, field(1, 1)))
    return field(1, name) + field(2, field(1, one_float))


NODE = field(1, b"x") + field(2, b"y") + field(4, b"Identity")
GRAPH = field(1, NODE) + field(2, b"g") + field(11, value(b"x")) + field(12, value(b"y"))
MODEL = field(1, 8) + field(7, GRAPH) + field(8, field(2, 13))

session = onnxruntime.InferenceSession(MODEL, providers=["CUDAExecutionProvider"])
print(*session.get_providers())
