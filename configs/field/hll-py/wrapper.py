"""hll-py 0.1.13: the sketch of people's words, and what it answers about two words."""

from hll_py import HyperLogLogLDP, SketchConfig


def estimates(data, epsilon):
    config = SketchConfig(m=2, epsilon=epsilon)
    sketch = HyperLogLogLDP(config)
    for word in data:
        sketch.insert_segments([f"{word}_seg{part}" for part in range(2)])
    return [float(sketch.estimate_word(word)) for word in ("flu", "cold")]
