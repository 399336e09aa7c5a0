#!/usr/bin/env bash
# Opacus: with ghost clipping, a loss that is a column is counted once for
# each person in the batch.
#
# Guess:   grad_sample_mode="ghost" gives the gradient of "hooks", with less
#          memory. A model with one output and MSELoss or BCEWithLogitsLoss
#          has losses of shape (n, 1), the shape that the wrapper's docstring
#          asks for.
# Happens: the n clipping factors, of shape (n,), times losses of shape
#          (n, 1) are a table of n x n, and all of it is summed: each gradient
#          is added n times, each time clipped by another person's factor.
#          With losses of shape (n,) both modes agree.
# Matters: the norm of the sum is n times the bound on it, and noise and
#          accountant are for the bound: at 100 people in a batch, sigma = 1
#          is a hundredth of what was accounted for. A mean over many steps
#          hides it, since an optimizer such as Adam rescales.
# Source:  opacus/utils/fast_gradient_clipping_utils.py, backward: `coeff *
#          loss_per_sample`; __init__'s docstring: "of size [batch_size, 1]".
#
# Seen on 2026-11-29:
#   opacus 1.6.0; each gradient clipped to 1, no noise: norm of their sum
#   10 people: ghost, losses (n, 1): 100.0; ghost, (n,): 10.0; hooks: 10.0
#   100 people: ghost, losses (n, 1): 10000.0; ghost, (n,): 100.0; hooks: 100.0
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile opacus==1.6.0 torch==2.13.0 scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys
import warnings

warnings.simplefilter("ignore")
import opacus
import torch
from torch.utils.data import DataLoader, TensorDataset

class Flat(torch.nn.Module):
    def forward(self, outputs):
        return outputs.squeeze(1)

def norm(people, mode, *layers):
    """Return the norm of the sum of all clipped gradients: one step, one batch."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 1, bias=False), *layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    loader = DataLoader(TensorDataset(torch.ones(people, 4)), batch_size=people)
    made = opacus.PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=0.0, max_grad_norm=1.0,
        criterion=torch.nn.MSELoss(), poisson_sampling=False, grad_sample_mode=mode,
    )
    model, optimizer, loader = made[0], made[1], made[-1]
    criterion = made[2] if mode == "ghost" else torch.nn.MSELoss()
    for (batch,) in loader:
        outputs = model(batch)
        criterion(outputs, torch.full_like(outputs, 100.0)).backward()
        optimizer.step()
    return people * next(model.parameters()).grad.norm().item()

print(f"opacus {opacus.__version__}; each gradient clipped to 1, no noise: norm of their sum")
for people in (10, 100):
    column, flat, hooks = norm(people, "ghost"), norm(people, "ghost", Flat()), norm(people, "hooks")
    print(f"{people} people: ghost, losses (n, 1): {column:.1f}; ghost, (n,): {flat:.1f}; hooks: {hooks:.1f}")
    if column < 0.9 * people**2 or max(flat, hooks) > 1.01 * people:
        sys.exit("changed: a column of losses is counted once")
PYTHON
