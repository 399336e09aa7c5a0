"""A clipped gradient of JAX Privacy with its noise, and a plan of both."""

import jax.numpy as jnp
import jax_privacy
import numpy as np
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig

from auditor.extending import adapt_object


def loss(params, example):
    return jnp.mean((example - params) ** 2)


gradient = adapt_object(
    jax_privacy.clipped_grad(loss, l2_clip_norm=0.5),
    {"stddev": 0.5, "params": jnp.zeros(4), "example": np.zeros(4, np.float32)},
)
plan = BandMFExecutionPlanConfig.default(num_bands=1, iterations=10, epsilon=1.0, delta=1e-5, sampling_prob=0.1).plan
