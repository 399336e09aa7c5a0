"""Where a mechanism comes from: Python that is imported, or a program that is started."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from auditor.blackbox.command import Command, Program
from auditor.blackbox.mechanism import PythonSource


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """A mechanism that is a program: a command, and the parameters that each request passes on."""

    command: Command
    parameters: Mapping[str, Any] = field(default_factory=dict)
    isolated: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of the command."""
        return self.command.name

    def files(self) -> list[Path]:
        """Return the files of the command: its program and arguments, as far as they are files."""
        candidates = [Path(self.command.folder, argument) for argument in self.command.arguments]
        return [path for path in candidates if path.is_file()]

    def drawer(self, limit: float | None = None) -> Program:
        """Return the program as a mechanism, with ``limit`` seconds for a request. Raises MechanismError if it is not found."""
        self.command.find()
        return Program(self.command, self.parameters, limit)

    def close(self) -> None:
        """End the programs that wait for a request."""
        self.command.close()


Source: TypeAlias = PythonSource | ProgramSource
