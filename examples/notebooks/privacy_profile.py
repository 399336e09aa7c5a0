# %% [markdown]
# # A claim on a whole privacy profile
#
# Gaussian noise has no single (ε, δ): it has a curve of them. With noise of scale σ on a query that moves by at most Δ, the
# mechanism is μ-Gaussian private, μ = Δ/σ, and δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).
#
# Here a sum of vectors is released, each clipped to length 1, with σ = 1. Adding or removing a person moves it by at most 1.
# *Replacing* one moves it by up to 2. A claim of μ = 1 is right for the one and wrong for the other.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import auditor


def noisy_sum(vectors, size, rng):
    """Return the sum of vectors clipped to length 1, with standard Gaussian noise, as an array of shape (size, 2)."""
    vectors = np.asarray(vectors, float).reshape(-1, 2)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1)).sum(axis=0) + rng.normal(size=(size, 2))


def delta(epsilon, mu):
    """Return the δ of μ-Gaussian privacy at ε."""
    return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


# %% [markdown]
# ## Two relations, one claim
#
# The claim is four points of the curve at μ = 1, all at once. People are points of a square that reaches beyond the clipping.

# %%
epsilons = [0.25, 0.5, 1.0, 2.0]
claim = auditor.PrivacyProfile([(e, float(delta(e, mu=1))) for e in epsilons])
results = {}
for relation in ("add_remove", "substitute"):
    people = auditor.Records((-2, 2), size=(1, 4), columns=2, relation=relation)
    results[relation] = auditor.audit(noisy_sum, claim, people, name=relation, samples=40_000, seed=7)
    print(relation, results[relation].verdict, results[relation].pair)

# %% [markdown]
# ## The curve that was proved
#
# Besides the verdict a result holds points (ε, δ) that lie below the true curve, all together at the confidence of the audit.

# %%
figure, axes = plt.subplots(figsize=(6, 4))
grid = np.linspace(0, 4, 100)
axes.plot(grid, delta(grid, mu=1), "k--", label="claimed, μ = 1")
axes.plot(grid, delta(grid, mu=2), "0.6", label="true for a person replaced, μ = 2")
for relation, result in results.items():
    axes.step(*zip(*sorted(result.illustration.profile), strict=True), where="pre", label=f"proved, {relation}")
axes.set(xlabel="ε", ylabel="δ", yscale="log", ylim=(1e-4, 1), xlim=(0, 4))
axes.legend()
figure.savefig(Path("profile.svg"))

# %% [markdown]
# ## Asking for μ itself
#
# If the claim is the μ, ask for that: one number on fewer outputs.

# %%
people = auditor.Records((-2, 2), size=(1, 4), columns=2, relation="substitute")
by_mu = auditor.audit(noisy_sum, auditor.GaussianDP(1.0), people, samples=4_000, seed=7)
print(by_mu.verdict, f"μ ≥ {by_mu.bound.value:.2f} of 2")
