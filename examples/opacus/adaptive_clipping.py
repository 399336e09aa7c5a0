"""One step of DP-SGD by opacus with adaptive clipping: a program for the auditor, run by the Python that has opacus.

The data are gradients, one number each: the model is linear with a weight of 0, and every label is 1. The batch is the whole of
the data. What is released is the weight and the next clipping length, as a log-likelihood ratio of one record more. Its gradient
is clipped, and those of all others are 0, so that it moves the sum by the clipping length, and the share that is not clipped.

With ``--claim`` it prints what the accountant of opacus says of the step: μ = 1/noise multiplier.
"""

import json
import math
import sys
import warnings

import torch
from opacus import PrivacyEngine

warnings.filterwarnings("ignore")
CLIP, RECORDS = 1.0, 1000


def step(gradients: list[float], noise: float, count_noise: float) -> tuple[float, float, float]:
    """Return the sum of clipped gradients with noise, the share that is not clipped with noise, and the multiplier accounted."""
    batch = len(gradients)
    features, labels = torch.tensor(gradients).reshape(-1, 1), torch.ones(batch)
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    engine = PrivacyEngine(accountant="gdp")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=float(batch)),
        data_loader=torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, labels), batch_size=batch),
        noise_multiplier=noise,
        max_grad_norm=CLIP,
        poisson_sampling=False,
        clipping="adaptive",
        target_unclipped_quantile=0.0,
        clipbound_learning_rate=1.0,
        min_clipbound=1e-6,
        max_clipbound=1e6,
        unclipped_num_std=count_noise,
    )
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(-1), y).backward()
        optimizer.step()
    share = -math.log(float(optimizer.max_grad_norm) / CLIP)
    return float(next(model.parameters())), share, engine.accountant.history[0][0]


def ratio(gradients: list[float], noise: float, count_noise: float) -> float:
    """Return about the log-likelihood ratio, up to a constant, of one large gradient more than RECORDS that are 0."""
    total, share, _ = step(gradients, noise, count_noise)
    precision = 1 / noise**2 - 1 / (2 * count_noise) ** 2  # of the sum, which opacus adds more noise to
    return total * precision / CLIP - share * RECORDS / count_noise**2


if sys.argv[1:]:
    print(1 / step([0.0] * 10, **json.loads(sys.argv[2]))[2])
    sys.exit()
for line in sys.stdin:
    asked = json.loads(line)
    torch.manual_seed(asked["seed"])
    for _ in range(asked["size"]):
        print(json.dumps(ratio(asked["dataset"], **asked["parameters"])), flush=True)
