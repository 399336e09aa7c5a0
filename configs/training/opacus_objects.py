"""Opacus as it is installed: optimizers with each kind of clipping, loaders, and the ghost clipping of each release."""

import opacus
import torch
from opacus import PrivacyEngine

from auditor.extending import adapt_object

BEFORE = opacus.__version__ <= "1.5.2"  # no loss calls both backward passes there
NUMBER, FEATURES, BATCH = 64, 4, 8


def private(outputs=2, *, norm=0.5, shuffled=False, loss=None, **clipping):
    """Return what `make_private` returns for a linear model."""
    torch.manual_seed(0)
    records = torch.utils.data.TensorDataset(torch.zeros(NUMBER, FEATURES), torch.ones(NUMBER, dtype=torch.long))
    model = torch.nn.Linear(FEATURES, outputs)
    return PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(records, batch_size=BATCH, shuffle=True),
        noise_multiplier=1.0,
        max_grad_norm=norm,
        poisson_sampling=not shuffled,
        **({"criterion": loss} if loss is not None and not BEFORE else {}),
        **clipping,
    )


def one_example(target):
    return torch.zeros(FEATURES), target


def ghost(loss, target, outputs):
    """Return the step with ghost clipping, as the release documents it."""
    kind = {"grad_sample_mode": "ghost", **({"clipping": "ghost"} if BEFORE else {})}
    made = private(outputs, loss=loss, **kind)
    example = {"example": one_example(target)}
    if BEFORE:
        return adapt_object(made[1], {"model": made[0], "criterion": loss, **example})
    return adapt_object(made[2], example)


def adaptive(count_noise, **more):
    """Return the optimizer that adapts its clipping norm, with this noise on the count of gradients that are not clipped."""
    return private(
        clipping="adaptive",
        target_unclipped_quantile=0.5,
        clipbound_learning_rate=0.2,
        min_clipbound=1e-3,
        max_clipbound=1e3,
        unclipped_num_std=count_noise,
    )[1]


model, gradients, poisson = private()
shuffled, with_shuffling = private(shuffled=True)[1:]
by_layer = private(clipping="per_layer", norm=[0.3, 0.4])[1]
examples = adapt_object(
    gradients, {"model": model, "criterion": torch.nn.CrossEntropyLoss(), "example": one_example(torch.tensor(1))}
)
epoch_of_poisson_batches = adapt_object(gradients, {"loader": poisson})
epoch_of_shuffled_batches = adapt_object(shuffled, {"loader": with_shuffling})
ghost_with_a_loss_for_each = ghost(torch.nn.CrossEntropyLoss(), torch.tensor(1), 2)
ghost_with_a_column_of_losses = ghost(torch.nn.BCEWithLogitsLoss(), torch.ones(1), 1)
adaptive_with_little_noise = adaptive(0.6)
