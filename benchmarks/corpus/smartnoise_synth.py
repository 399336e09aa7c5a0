"""DPcovariance of smartnoise-synth. Its file is loaded alone, since the package needs PyTorch."""

import importlib.util
import sys
from importlib.metadata import files
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

import pandas as pd
from protocol import Made, serve

[found] = [file for file in files("smartnoise-synth") or () if file.name == "dp_covariance.py"]
spec = importlib.util.spec_from_file_location("dp_covariance", str(found.locate()))
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def covariance(size: int, low: float, high: float, epsilon: float) -> Made:
    limits = pd.DataFrame({0: [low, high], 1: [low, high]})
    released = module.DPcovariance(size, [0, 1], limits, epsilon)
    return {"epsilon": epsilon}, lambda dataset: released.release(pd.DataFrame(dataset, columns=[0, 1]))


serve(covariance)
