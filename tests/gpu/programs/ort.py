# SPDX-License-Identifier: Apache-2.0
"""Asks ONNX Runtime for CUDA; a build without it goes on with the processor."""
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper
graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"])], "g",
                          [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8]),
                           helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 3, 3, 3])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 6, 6])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(),
                                       providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
session.run(None, {"x": numpy.ones((1, 3, 8, 8), "f"), "w": numpy.ones((4, 3, 3, 3), "f")})
print("works" if "CUDAExecutionProvider" in session.get_providers() else "slow", session.get_providers())
