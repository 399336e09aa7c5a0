"""opacus-dpcr 1.0.0. Source: opacus_dpcr/dpcrOptimizer, which loads without PyTorch; the ε is opacus'.

"Just replace PrivacyEngine in your Opacus code with DPCREngine" (dpcr_engine). The optimizer releases gradients times the
learning rate; its noise has the deviation of the first learning rate, and a warm-up raises the rate after that.
"""

from types import SimpleNamespace

from protocol import Statement, gaussian, load_submodules_only, poisson, serve, stand_in_for

stand_in_for("torch", "opacus.optimizers")
load_submodules_only("opacus", "opacus_dpcr")
from dpcrpy import SimpleMech  # noqa: E402
from opacus.accountants import create_accountant  # noqa: E402
from opacus_dpcr.dpcrOptimizer import DPCROptimizer  # noqa: E402

CLIP, BATCH = 1.0, 64


class _Inner(SimpleNamespace):
    """What the optimizer reads of an opacus optimizer."""

    def state_dict(self) -> dict[str, list[dict[str, float]]]:
        return {"param_groups": [{"lr": self.lr, "momentum": 0.0}]}


def warm_up(sigma: float, rate: float, steps: int, warm_up: float, delta: float) -> Statement:
    peak = 0.1
    inner = _Inner(
        loss_reduction="mean",
        expected_batch_size=BATCH,
        noise_multiplier=sigma,
        max_grad_norm=CLIP,
        params=[],
        lr=peak * warm_up,
    )
    optimizer = DPCROptimizer(inner, SimpleMech)
    inner.lr = peak
    accountant = create_accountant("rdp")
    accountant.history = [(sigma, rate, steps)]
    moved = inner.lr * CLIP / BATCH
    return accountant.get_epsilon(delta), gaussian(optimizer.gSigma, sensitivity=moved, steps=steps, **poisson(rate))


serve(warm_up)
