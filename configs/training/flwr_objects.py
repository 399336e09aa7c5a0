"""Flower's strategies, as they are and as a repair would leave one."""

import flwr.server.strategy as by_results
import flwr.serverapp.strategy as by_messages
from flwr.clientapp.mod import LocalDpMod

CLIENTS = 3

server_side = by_messages.DifferentialPrivacyServerSideFixedClipping(by_messages.FedAvg(), 1.0, 1.0, CLIENTS)
client_side = by_messages.DifferentialPrivacyClientSideFixedClipping(by_messages.FedAvg(), 1.0, 1.0, CLIENTS)
of_results = by_results.DifferentialPrivacyServerSideFixedClipping(by_results.FedAvg(), 1.0, 1.0, CLIENTS)
# The noise on the count must be above half the multiplier, and is a twentieth of the clients by default.
adaptive = by_results.DifferentialPrivacyServerSideAdaptiveClipping(by_results.FedAvg(), 0.5, 20, clip_norm_lr=1.0)
adaptive_without_a_change = by_results.DifferentialPrivacyServerSideAdaptiveClipping(
    by_results.FedAvg(), 0.5, 20, clip_norm_lr=1e-9
)
# Any two updates of a client lie two clipping norms apart.
local = LocalDpMod(clipping_norm=1.0, sensitivity=2.0, epsilon=2.0, delta=1e-2)
local_with_half_the_sensitivity = LocalDpMod(clipping_norm=1.0, sensitivity=1.0, epsilon=2.0, delta=1e-2)
