"""A noisy mean in a Python of its own: whatever it needs is installed there, and may clash with what the auditor needs."""

import json
import random
import sys

for line in sys.stdin:
    request = json.loads(line)
    records, generator = request["dataset"], random.Random(request["seed"])
    scale = 1 / (len(records) * request["parameters"]["epsilon"])  # records lie in [0, 1]; their number is no secret
    mean = sum(records) / len(records)
    for _ in range(request["size"]):
        noise = scale * (generator.expovariate(1) - generator.expovariate(1))
        print(json.dumps(mean + noise))
    sys.stdout.flush()
