# pydp 1.1.5, as built by `python -m auditor.libraries pydp`.
# ruff: noqa
# fmt: off
import pydp.algorithms.laplacian
import pydp.algorithms.numerical_mechanisms
import pydp.algorithms.partition_selection
import pydp.algorithms.laplacian as laplacian
from pydp.algorithms.partition_selection import PartitionSelectionStrategyType

LAPLACE = PartitionSelectionStrategyType.LAPLACE

BoundedMean = laplacian.BoundedMean(epsilon=1.0, lower_bound=0, upper_bound=10, dtype='float')
BoundedStandardDeviation = laplacian.BoundedStandardDeviation(epsilon=1.0, lower_bound=0, upper_bound=10, dtype='float')
BoundedSum = laplacian.BoundedSum(epsilon=1.0, lower_bound=0, upper_bound=10, dtype='float')
BoundedSum_2 = laplacian.BoundedSum(epsilon=1.0, lower_bound=0, upper_bound=10, linf_sensitivity=2)
BoundedVariance = laplacian.BoundedVariance(epsilon=1.0, lower_bound=0, upper_bound=10, dtype='float')
Count = laplacian.Count(epsilon=1.0)
Count_2 = laplacian.Count(epsilon=1.0, linf_sensitivity=2)
Max = laplacian.Max(epsilon=1.0, lower_bound=0, upper_bound=10, dtype='float')
Median = laplacian.Median(epsilon=1.0, lower_bound=0, upper_bound=10, dtype='float')
Min = laplacian.Min(epsilon=1.0, lower_bound=0, upper_bound=10, dtype='float')
Percentile = laplacian.Percentile(epsilon=1.0, percentile=0.9, lower_bound=0, upper_bound=10, dtype='float')
GaussianMechanism = pydp.algorithms.numerical_mechanisms.GaussianMechanism(1.0, 0.01, 1.0)
LaplaceMechanism = pydp.algorithms.numerical_mechanisms.LaplaceMechanism(1.0, 1.0)
create_gaussian_partition_strategy = pydp.algorithms.partition_selection.create_gaussian_partition_strategy(1.0, 0.01, 1)
create_laplace_partition_strategy = pydp.algorithms.partition_selection.create_laplace_partition_strategy(1.0, 0.01, 1)
create_partition_strategy = pydp.algorithms.partition_selection.create_partition_strategy('truncated_geometric', 1.0, 0.01, 1)
create_pre_thresholding_partition_strategy = pydp.algorithms.partition_selection.create_pre_thresholding_partition_strategy(1.0, 0.01, 1, 5, LAPLACE)
create_truncated_geometric_partition_strategy = pydp.algorithms.partition_selection.create_truncated_geometric_partition_strategy(1.0, 0.01, 1)
