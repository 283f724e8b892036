# SPDX-License-Identifier: Apache-2.0
"""JAX and PyTorch in one process."""
import os
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax.numpy as jnp
import jax
import torch
y = jax.lax.conv(jnp.ones((2, 3, 32, 32)), jnp.ones((8, 3, 3, 3)), (1, 1), "VALID").block_until_ready()
z = torch.nn.Conv2d(3, 8, 3).cuda()(torch.randn(2, 3, 32, 32, device="cuda"))
torch.cuda.synchronize()
print("works" if jax.devices()[0].platform == "gpu" else "slow", torch.backends.cudnn.version(), tuple(z.shape))
