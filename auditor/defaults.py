"""What holds where nothing is set, and the names that settings may have. Whoever documents or checks a setting looks here."""

from typing import Literal

CONFIDENCE = 0.999
SAMPLES = 1_000_000
BATCH = 65_536
# −1 is one for each core.
WORKERS = -1

MethodName = Literal["fixed", "sequential", "two-intervals", "one-run"]
BackendName = Literal["auto", "loky", "threading", "dask", "ray"]
EventKind = Literal["values", "bits"]
Prove = bool | Literal["only", "briefly"]
