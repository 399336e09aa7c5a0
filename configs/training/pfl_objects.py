"""pfl's mechanisms."""

from pfl.privacy.adaptive_clipping import AdaptiveClippingGaussianMechanism
from pfl.privacy.gaussian_mechanism import GaussianMechanism
from pfl.privacy.joint_mechanism import JointMechanism
from pfl.privacy.laplace_mechanism import LaplaceMechanism

gaussian = GaussianMechanism(clipping_bound=1.0, relative_noise_stddev=1.0)
laplace = LaplaceMechanism(clipping_bound=1.0, epsilon=1.0)
adaptive = AdaptiveClippingGaussianMechanism(
    lambda bound: GaussianMechanism(bound, 1.0),
    initial_clipping_bound=1.0,
    clipping_indicator_noise_stddev=2.0,
    adaptive_clipping_norm_quantile=0.5,
)
joint = JointMechanism({"one": (GaussianMechanism(1.0, 1.0), ["a"]), "other": (GaussianMechanism(1.0, 1.0), ["b"])})
