"""An accountant or a calibration as the target of an audit: what it states, of which process, and in which ranges."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from auditor.blackbox.command import Command
from auditor.errors import InvalidInputError, require_known, require_number
from auditor.exact import Composition, Process
from auditor.exact.process_mapping import PROCESS_KEYS

States = Literal["epsilon", "delta", "mu", "rho", "renyi", "tradeoff", "noise"]
# The parameter that says where a number is stated, by what is stated: ε at δ, δ at ε, a divergence at its order, the rate of
# false negatives at the rate of false positives.
ARGUMENTS: Mapping[str, str] = {"epsilon": "delta", "delta": "epsilon", "renyi": "order", "tradeoff": "alpha"}
# The targets of a calibration, the first of which its parameters name. With ε belongs δ, which is 0 by default.
TARGETS: tuple[States, ...] = ("epsilon", "mu", "rho")
# What these parameters say is the auditor's business, so neither callable needs to accept them.
RESERVED = ("delta", "epsilon", "order", "alpha", "mu", "rho")

Value: TypeAlias = float | int | str | bool | None
Parameters: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from ``low`` to ``high``, with both ends.

    ``log`` says that sizes matter more than differences; by default this holds if the numbers are positive and the ends a factor
    of 100 or more apart. A range with ``log`` may start at 0. ``integer`` leaves only whole numbers.
    """

    low: float
    high: float
    log: bool | None = None
    integer: bool = False

    def __post_init__(self) -> None:
        require_number("low", self.low, -math.inf, math.inf)
        require_number("high", self.high, -math.inf, math.inf)
        if self.low > self.high:
            raise InvalidInputError(f"low is {self.low!r} and high {self.high!r}; low must be at most high")
        if self.integer and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise InvalidInputError(f"low is {self.low!r} and high {self.high!r}; of integers, both must be integers")
        if self.log and self.low < 0:
            raise InvalidInputError(f"low is {self.low!r}; with log, it must be at least 0")
        if self.log is None:
            object.__setattr__(self, "log", 0 < self.low * 100 <= self.high)

    def __contains__(self, value: object) -> bool:
        return (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and self.low <= value <= self.high
            and not (self.integer and value != int(value))
        )

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


Space: TypeAlias = Range | Sequence[Value] | Value


@dataclass(frozen=True)
class Accountant:
    """An accountant that states a number of a process, or a calibration that returns the noise for a target.

    Args:
        name: its name in reports.
        states: what ``stated`` returns. "epsilon" (nats, at the parameter ``delta``), "delta" (at ``epsilon``), "mu" and "rho"
            (of Gaussian and of zero-concentrated privacy), "renyi" (nats, at ``order``), "tradeoff" (the least rate of false
            negatives at the rate ``alpha`` of false positives), or "noise": the scale of noise that fulfils the target which the
            parameters ``epsilon`` and ``delta``, ``mu`` or ``rho`` name.
        stated: a callable of the parameters as keywords, which returns the number. In place of a number at its argument it may
            return a whole curve: a mapping, or pairs (argument, number). May be "module:function" or "file.py:function"; or a
            Command, a program that answers lines {"parameters": {…}} with lines {"stated": …, "process": …}.
        process: a callable of the parameters as keywords, which returns the Process or Composition that the number is about. The
            process of a calibration also takes the returned noise as ``scale``. May be a name, as ``stated``; or a mapping with
            the keys of a process, in which a text that names a parameter stands for the parameter's value; or a list of mappings.
            None for a Command whose answers have the process.
        parameters: for each, a Range, a list of choices with the simplest first, or a constant. A callable receives those that
            it accepts. What only ``stated`` accepts must not change the number, such as the order of two requests.
        source: where the claim is documented.
        search_path: the folders in which modules of names are looked for.
        bound: "lower" for a number that must not lie above the exact one, such as the lower end of an interval.

    Raises InvalidInputError for values of other kinds, and for parameters that are missing.
    """

    name: str
    states: States
    stated: Callable[..., Any] | str | Command
    process: Callable[..., Process | Composition] | str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
    parameters: Mapping[str, Space]
    source: str = ""
    search_path: tuple[str, ...] = field(default=(), repr=False)
    bound: Literal["upper", "lower"] = "upper"

    def __post_init__(self) -> None:
        require_known("states is", [self.states], get_args(States))
        require_known("bound is", [self.bound], ("upper", "lower"))
        if self.bound == "lower" and self.states in ("noise", "tradeoff"):
            raise InvalidInputError(f'bound is "lower", and states "{self.states}"; of these, only "upper" is possible')
        if not isinstance(self.parameters, Mapping) or not self.parameters:
            raise InvalidInputError(
                f"parameters is {self.parameters!r}; it must map names to ranges, choices or values"
            )
        for name, space in self.parameters.items():
            _check_space(name, space)
        if self.states == "noise":
            if not any(target in self.parameters for target in TARGETS):
                raise InvalidInputError(
                    'states is "noise", and the parameters name no target; add `epsilon` and `delta`, `mu`, or `rho`'
                )
            if "scale" in self.parameters:
                raise InvalidInputError(
                    "scale is the noise that a calibration returns; give the parameter another name"
                )
        if not (callable(self.stated) or isinstance(self.stated, str | Command)):
            raise InvalidInputError(
                f"stated is {self.stated!r}; it must be a callable, a name, module:function or file.py:function, or a Command"
            )
        if isinstance(self.process, Mapping) or (
            isinstance(self.process, Sequence) and not isinstance(self.process, str)
        ):
            self._check_template()
        elif not (callable(self.process) or isinstance(self.process, str)) and not self.answers_with_process:
            of_program = "; only a Command may answer with the process" if self.process is None else ""
            raise InvalidInputError(
                f"process is {self.process!r}; it must be a callable, a name, or a mapping such as "
                f'{{"noise": "gaussian", "scale": "sigma"}}{of_program}'
            )

    @property
    def argument(self) -> str | None:
        """The parameter that says where the number is stated; None if there is none."""
        return ARGUMENTS.get(self.states)

    @property
    def answers_with_process(self) -> bool:
        """Whether a program answers with the process, beside the stated number."""
        return self.process is None and isinstance(self.stated, Command)

    def choices_of(self, name: str) -> Range | tuple[Value, ...]:
        """Return the values that a parameter may have: a range, or a tuple with the simplest first."""
        space = self.parameters[name]
        if isinstance(space, Range):
            return space
        return tuple(space) if isinstance(space, Sequence) and not isinstance(space, str) else (space,)

    def template_names(self) -> set[str]:
        """Return the parameters that a process given as mappings names; all, if it is a callable."""
        if self.process is None or callable(self.process) or isinstance(self.process, str):
            return set(self.parameters)
        parts = [self.process] if isinstance(self.process, Mapping) else self.process
        return {value for part in parts for value in _texts(part.values()) if value in self.parameters}

    def _check_template(self) -> None:
        parts = [self.process] if isinstance(self.process, Mapping) else list(self.process)  # type: ignore[arg-type]
        if not parts:
            raise InvalidInputError("process is an empty list; it needs the mapping of at least one process")
        for part in parts:
            if not isinstance(part, Mapping) or not part:
                raise InvalidInputError(f"process is {part!r}; it must be a mapping with the keys of a process")
            require_known("a process has an unknown key", part, PROCESS_KEYS)
            texts = _texts(value for key, value in part.items() if key not in ("noise", "sampling", "relation"))
            known = [*self.parameters, *(["scale"] if self.states == "noise" else [])]
            require_known("a process names the unknown parameter", texts, known)


def _texts(values: Iterable[Any]) -> Iterable[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from _texts(value)


def _check_space(name: object, space: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidInputError(f"a parameter is called {name!r}; its name must be that of a keyword")
    if isinstance(space, Range | str | bool | int | float) or space is None:
        if isinstance(space, float) and math.isnan(space):
            raise InvalidInputError(f"{name} is NaN; it must be a number")
        return
    if not isinstance(space, Sequence) or not space:
        raise InvalidInputError(f"{name} is {space!r}; it must be a Range, a list of choices, or a value")
    for value in space:
        if not isinstance(value, str | bool | int | float) and value is not None:
            raise InvalidInputError(f"{name} has the choice {value!r}; it must be a number, a text, true or false")


def accepted(function: Callable[..., Any]) -> set[str] | None:
    """Return the keywords that a callable accepts; None if it accepts all, or if Python cannot read its signature."""
    try:
        taken = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
        return None
    by_keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {parameter.name for parameter in taken if parameter.kind in by_keyword}
