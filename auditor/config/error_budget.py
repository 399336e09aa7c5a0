"""An error budget that many runs share, such as the jobs of a pipeline: it is kept in a file."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from auditor.blackbox.inputs import changes_since, merged
from auditor.config.load import Configuration, load_configuration
from auditor.config.run_identity import identity
from auditor.config.strict import validated
from auditor.defaults import RunKeywords
from auditor.errors import InvalidInputError
from auditor.results.files import to_json, write_whole
from auditor.strangers import read_json

# Of the file.
MOST_BYTES = 1 << 24

VERSION = 1


@dataclass(frozen=True, slots=True)
class BudgetShare:
    """The allowed error of the runs of one configuration, if they draw no audit twice.

    ``run`` is a digest of everything known before a run that decides its outputs. ``inputs`` are the files and modules that
    mechanisms then read and imported. ``begun`` are their audits, and ``repeatable`` those that draw the same outputs again.
    """

    run: str
    configuration: str
    allowed_error: float
    begun: Sequence[str] = ()
    repeatable: Sequence[str] = ()
    inputs: dict[str, str] = field(default_factory=dict)

    def covers(self, run: str, audits: Iterable[str], folder: Path) -> bool:
        """Whether a run may take part: none of its audits has a second chance to raise a false alarm.

        ``folder`` is the folder of the configuration, at which the paths of inputs begin.
        """
        may_repeat = all(name in self.repeatable or name not in self.begun for name in audits)
        return run == self.run and may_repeat and not any(changes_since(self.inputs, folder))

    def applied(self, configuration: Configuration) -> Configuration:
        """Return the configuration, with all its audits, at the confidence of this share."""
        overrides: RunKeywords = {**configuration.overrides, "confidence": 1 - self.allowed_error}
        return load_configuration(configuration.file, **overrides)


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """The error that all runs that name a file may make, and their shares of it.

    The k-th share is 1/(k(k + 1)) of ``allowed_error``, which sums to 1 over all k. So the chance that any run raises a false
    alarm is at most ``allowed_error``, however many there are, and however each depends on the ones before (union bound).
    """

    allowed_error: float
    shares: tuple[BudgetShare, ...] = ()

    def shared(
        self, run: str, configuration: str, audits: Sequence[str], resumed: bool, folder: Path
    ) -> tuple["ErrorBudget", int]:
        """Return the budget after a run has begun, and the index of its share.

        A run whose outputs were drawn before has the share that it had: it cannot raise a new alarm. The same holds for runs of
        other audits of the configuration, which share its error already, and for a resumed run.
        """
        fitting = [k for k, one in enumerate(self.shares) if one.covers(run, audits, folder)]
        if resumed:
            fitting = [k for k, one in enumerate(self.shares) if one.run == run][-1:]
        place = fitting[0] if fitting else len(self.shares)
        k = place + 1
        share = self.shares[place] if fitting else BudgetShare(run, configuration, self.allowed_error / (k * (k + 1)))
        begun = replace(share, begun=tuple(dict.fromkeys([*share.begun, *audits])))
        return replace(self, shares=(*self.shares[:place], begun, *self.shares[place + 1 :])), place


def take_share(file: Path, configuration: Configuration, resumed: bool) -> BudgetShare:
    """Note in ``file`` that a run begins, and return its share. The first run makes the file, for its configuration's confidence.

    Raises InvalidInputError if the file cannot be read or written, or if the configuration has another confidence.
    """
    whole, run = 1 - configuration.confidence, _digest(configuration)
    with _locked(file):
        budget = _read(file) if file.exists() else ErrorBudget(whole)
        if abs(budget.allowed_error - whole) > 1e-12:
            raise InvalidInputError(
                f"{configuration.file} has the confidence {configuration.confidence:g}, and the budget {file} is for "
                f"{1 - budget.allowed_error:g}; all runs of a budget must have the same confidence: change the "
                f"confidence, or name another budget file"
            )
        audits = [plan.name for plan in configuration.plans]
        budget, place = budget.shared(run, configuration.name, audits, resumed, configuration.file.resolve().parent)
        _write(file, budget)
    return budget.shares[place]


def note_repeatable(file: Path, share: BudgetShare, audits: Sequence[str], inputs: Mapping[str, str]) -> None:
    """Note in ``file`` which audits of a share draw the same outputs again, from the same inputs.

    Raises InvalidInputError if that fails.
    """
    with _locked(file):
        budget = _read(file)
        shares = tuple(
            replace(
                one,
                repeatable=tuple(dict.fromkeys([*one.repeatable, *audits])),
                inputs=one.inputs | {name: merged(one.inputs.get(name), found) for name, found in inputs.items()},
            )
            if (one.run, one.allowed_error) == (share.run, share.allowed_error)
            else one
            for one in budget.shares
        )
        _write(file, replace(budget, shares=shares))


def _digest(configuration: Configuration) -> str:
    known = {key: value for key, value in identity(configuration).items() if key != "audits run"}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Let one run at a time change the budgets of a folder. The lock ends with the process."""
    try:
        folder = os.open(file.resolve().parent, os.O_RDONLY)
    except OSError as error:
        raise InvalidInputError(f"the budget {file} cannot be kept there: {error.strerror}") from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _read(file: Path) -> ErrorBudget:
    wrong = f"{file} is not an error budget; name a new file to begin another one"
    kept = read_json(file, MOST_BYTES, "an error budget")
    if isinstance(kept, dict) and kept.pop("version", VERSION) != VERSION:
        raise InvalidInputError(f"{wrong}: it has another version than {VERSION}, which this auditor reads")
    budget = validated(ErrorBudget, kept, wrong)
    most = (budget.allowed_error / (k * (k + 1)) for k in range(1, len(budget.shares) + 1))
    if not 0 < budget.allowed_error < 1 or any(
        not 0 < one.allowed_error <= share * (1 + 1e-12) for one, share in zip(budget.shares, most, strict=True)
    ):
        raise InvalidInputError(f"{wrong}: its shares or its allowed error are out of range")
    return budget


def _write(file: Path, budget: ErrorBudget) -> None:
    try:
        write_whole(file, to_json({"version": VERSION, **asdict(budget)}))
    except OSError as error:
        raise InvalidInputError(f"the budget {file} cannot be written: {error.strerror}") from None
