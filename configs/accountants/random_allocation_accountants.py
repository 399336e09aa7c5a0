"""random-allocation 1.0.5. Source: random_allocation/random_allocation_scheme, of each function.

The record is in num_selected of num_steps steps, chosen at random, in each epoch; its neighbours are added or removed (Direction).
"""

from protocol import Statement, gaussian, load_submodules_only, serve

load_submodules_only("random_allocation", "random_allocation.comparisons")  # which would plot
from random_allocation.comparisons import definitions  # noqa: E402, F401  the schemes ask for it before each other
from random_allocation.comparisons.structs import PrivacyParams, SchemeConfig  # noqa: E402
from random_allocation.other_schemes.local import local_epsilon  # noqa: E402
from random_allocation.random_allocation_scheme.lower_bound import allocation_epsilon_lower_bound  # noqa: E402

CONFIG = SchemeConfig()


# "Compute a lower bound on epsilon for the allocation scheme" (allocation_epsilon_lower_bound)
def lower_bound(sigma: float, batches: int, delta: float) -> Statement:
    parameters = PrivacyParams(sigma=sigma, num_steps=batches, delta=delta)
    return allocation_epsilon_lower_bound(parameters, CONFIG), gaussian(sigma, sampling="allocation", batches=batches)


# other_schemes/local: all steps of the record are known, "Gaussian_epsilon"
def local(sigma: float, batches: int, delta: float) -> Statement:
    return local_epsilon(PrivacyParams(sigma=sigma, num_steps=batches, delta=delta), CONFIG), gaussian(sigma)


serve(lower_bound, local)
