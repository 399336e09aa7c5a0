"""One step of DP-SGD by opacus with ghost clipping: a program for the auditor, run by the Python that has opacus.

The data are rows of features with a label behind them. The model is linear, with weights of 0, and the batch is the whole of
the data. What is released is the sum of clipped gradients and noise, with the sign of a step. Under add/remove it has μ = 1/noise.
"""

import json
import sys
import warnings

import opacus
import torch
from opacus import PrivacyEngine

warnings.filterwarnings("ignore")
BEFORE = opacus.__version__ <= "1.5.2"  # there the two backward passes are called by hand
if BEFORE:
    from opacus.utils.fast_gradient_clipping_utils import double_backward


def release(rows: list[list[float]], noise: float, clip: float) -> list[float]:
    """Return how the weights move, times the size of the batch, which opacus divides by."""
    data = torch.tensor(rows, dtype=torch.float32)
    features, labels = data[:, :-1], data[:, -1]
    model = torch.nn.Linear(features.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, labels), batch_size=len(data))
    made = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=float(len(data))),
        data_loader=loader,
        noise_multiplier=noise,
        max_grad_norm=clip,
        grad_sample_mode="ghost",
        poisson_sampling=False,
        **({"clipping": "ghost"} if BEFORE else {"criterion": torch.nn.BCEWithLogitsLoss()}),
    )
    model, optimizer = made[:2]
    for x, y in made[-1]:
        optimizer.zero_grad()
        scores = model(x).squeeze(-1)
        if BEFORE:
            double_backward(
                model, optimizer, torch.nn.functional.binary_cross_entropy_with_logits(scores, y, reduction="none")
            )
        else:
            made[2](scores, y).backward()
        optimizer.step()
    return [float(weight) for weight in next(model.parameters()).detach().ravel()]


for line in sys.stdin:
    asked = json.loads(line)
    torch.manual_seed(asked["seed"])
    for _ in range(asked["size"]):
        print(json.dumps(release(asked["dataset"], **asked["parameters"])), flush=True)
