#!/usr/bin/env bash
# Opacus: people whom a loader's sampler holds out are trained on.
#
# Guess:   a loader whose SubsetRandomSampler names 80 of 100 people draws
#          from these 80, in private training as before.
# Happens: make_private builds a new loader of the old one's data set and
#          number of batches, and drops its sampler: each of the 100 is drawn
#          with probability 1 / len(loader). Nothing is printed.
# Matters: a split into training and test people by samplers is common. The
#          test people are in the model, so its accuracy and an attack's
#          'non-members' are wrong, and who opted out is in. The expected
#          batch is 10, where the loader said 8. A WeightedRandomSampler goes
#          the same way. torch.utils.data.Subset is kept.
# Source:  opacus/data_loader.py, DPDataLoader.from_data_loader: "attributes
#          and parameters inherited ... except for sampling mechanism".
#
# Seen on 2026-11-29:
#   opacus 1.6.0; the sampler names people 0 to 79 of 100, ten epochs
#   before make_private: 80 people, of whom 0 held out
#   after make_private: 100 people, of whom 20 held out
#   the same people as a Subset: 80 people, of whom 0 held out
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
from torch.utils.data import DataLoader, Subset, SubsetRandomSampler, TensorDataset

torch.manual_seed(1)
people = TensorDataset(torch.arange(100.0).unsqueeze(1))
chosen = range(80)

def private(loader):
    """Return the loader that private training draws from."""
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return opacus.PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0
    )[-1]

def drawn(loader):
    """Return who is drawn in ten epochs, and how many of them are held out."""
    seen = {int(person) for _ in range(10) for (batch,) in loader for person in batch.flatten()}
    return len(seen), len(seen - set(chosen))

by_sampler = DataLoader(people, batch_size=8, sampler=SubsetRandomSampler(chosen))
by_subset = DataLoader(Subset(people, chosen), batch_size=8)
loaders = {
    "before make_private": by_sampler,
    "after make_private": private(by_sampler),
    "the same people as a Subset": private(by_subset),
}
print(f"opacus {opacus.__version__}; the sampler names people 0 to 79 of 100, ten epochs")
held_out = {}
for words, loader in loaders.items():
    number, held_out[words] = drawn(loader)
    print(f"{words}: {number} people, of whom {held_out[words]} held out")
if list(held_out.values())[::2] != [0, 0] or held_out["after make_private"] < 15:
    sys.exit("changed: the sampler is kept, or refused")
PYTHON
