# %% [markdown]
# # A first audit
#
# A survey asks a question that people would rather not answer. Each tosses a coin and answers the truth or at random, so that
# any answer can be denied. How much does an answer tell all the same?

# %%
import numpy as np

import auditor


def randomised_response(bit, size, rng, honesty):
    """Return the bit with probability ``honesty``, else the answer of a second toss of a fair coin."""
    honest = rng.random(size) < honesty
    return np.where(honest, bit, rng.integers(2, size=size))


# %% [markdown]
# With `honesty` h the truth is told with probability (1 + h)/2, so ε = ln((1 + h)/(1 − h)). At h = 1/2 that is ln 3 = 1.0986.
# Somebody has rounded it to 1.

# %%
claim = auditor.PureDP(1.0)
parameters = {"honesty": 0.5}
result = auditor.audit(randomised_response, claim, [(0, 1)], parameters=parameters, samples=200_000, seed=7)
result  # in a notebook: the verdict, the counts, and plots of both sides

# %%
print(result.verdict, f"ε ≥ {result.bound.value:.3f} with {result.bound.confidence:.1%} confidence")
print(result.event)

# %% [markdown]
# The counts above are all that the bound rests on: how often the event happened on each side. The honest claim stands:

# %%
honest = auditor.audit(
    randomised_response, auditor.PureDP(np.log(3)), [(0, 1)], parameters=parameters, samples=200_000, seed=7
)
print(honest.verdict, f"ε ≥ {honest.bound.value:.3f}; smallest violations detected: {honest.power}")

# %% [markdown]
# ## More outputs, sharper answers
#
# The bound approaches the truth as one over the root of the number of outputs. An audit of a false claim stops as soon as it knows.

# %%
for samples in (1_000, 10_000, 100_000):
    shown = auditor.audit(randomised_response, claim, [(0, 1)], parameters=parameters, samples=samples, seed=7)
    print(f"{samples:>7,} outputs: ε ≥ {shown.bound.value:.3f}, {shown.verdict}")

# %%
quick = auditor.audit(
    randomised_response,
    auditor.PureDP(0.5),
    [(0, 1)],
    parameters=parameters,
    samples=100_000,
    seed=7,
)
print(quick.verdict, "after", quick.outputs)
