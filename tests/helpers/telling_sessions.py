"""A configuration of a session that reveals whether there are records."""

from pathlib import Path

# A session that refuses the second question if there are records, and says so.
MECHANISM = """
class Tells:
    def __init__(self, dataset, rng, after=1):
        self.dataset, self.rng, self.left = dataset, rng, after

    def __call__(self, question):
        self.left -= 1
        if self.left < 0 and len(self.dataset):
            raise PermissionError("no")
        return float(self.rng.normal())
"""
HEAD = "version: 1\nsamples: 20_000\nplanted: 0\nexecution: {workers: 1, isolate: false}\naudits:\n"
AUDIT = """  - name: tells
    mechanism: tells.py:Tells
    claim: {epsilon: 1.0}
    neighbours: {domain: records, record: {low: 0, high: 1}, size: {low: 0, high: 2}}
"""
ASK = "    ask: [mean, sum]\n    rounds: 3\n"


def written(folder: Path, ask: str = ASK) -> Path:
    """Write the mechanism and its configuration into a folder, and return the configuration."""
    (folder / "tells.py").write_text(MECHANISM, encoding="utf-8")
    file = folder / "tells.yaml"
    file.write_text(HEAD + AUDIT + ask, encoding="utf-8")
    return file
