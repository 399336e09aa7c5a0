"""Starters: a wrapper around a framework's step or round, and a configuration that audits it; both run as they are written."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from auditor.errors import require_known

# The frameworks of which there is a step of training, or a round of federated learning.
STEPS, ROUNDS = ("opacus", "jax-privacy"), ("flwr", "nvflare", "pfl")


@dataclass(frozen=True, slots=True)
class Starter:
    """Two files: a wrapper, which is Python, and a configuration."""

    wrapper: Path
    wrapper_text: str
    text: str


def starter(kind: str, framework: str, file: Path) -> Starter:
    """Return the starter of a framework, to be written to ``file``, and to a module beside it, which is named after its kind.

    Raises InvalidInputError for a framework that has none of this ``kind``, "step" or "round".
    """
    require_known(f"there is no {kind} of", [framework], STEPS if kind == "step" else ROUNDS)
    folder = files("auditor.config").joinpath("starters")
    wrapper_text, text = (
        folder.joinpath(f"{framework}.{end}.txt").read_text(encoding="utf-8") for end in ("py", "yaml")
    )
    return Starter(file.with_name(f"{kind}.py"), wrapper_text, text)
