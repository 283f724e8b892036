# SPDX-License-Identifier: Apache-2.0
"""One convolution by JAX; without a GPU JAX goes on with the processor."""
import jax
import jax.numpy as jnp
y = jax.lax.conv(jnp.ones((2, 3, 32, 32)), jnp.ones((8, 3, 3, 3)), (1, 1), "VALID").block_until_ready()
kind = jax.devices()[0].platform
print("works" if kind == "gpu" else "slow", kind, y.shape, float(y[0, 0, 0, 0]))
