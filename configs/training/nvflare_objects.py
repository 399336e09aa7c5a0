"""The filter of NVIDIA FLARE that claims differential privacy."""

from nvflare.app_common.filters.svt_privacy import SVTPrivacy

sent = SVTPrivacy(fraction=0.25, epsilon=1.0, noise_var=1.0, gamma=1.0, tau=0.5)
