"""Where a mechanism comes from: Python that is imported, or a program that is started."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from auditor.blackbox.command import Command, Program
from auditor.blackbox.mechanism import PythonSource, named_files
from auditor.errors import MechanismError


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
        """Return the files of the command, which are its program and those of its arguments that are files, and those that
        parameters name.
        """
        candidates = [Path(self.command.folder, argument) for argument in self.command.arguments]
        with suppress(MechanismError):  # it is raised again when the program is to run
            candidates.append(Path(self.command.find()))
        return [*(path for path in candidates if path.is_file()), *named_files(self.parameters, (self.command.folder,))]

    def drawer(self, limit: float | None = None) -> Program:
        """Return the program as a mechanism, with ``limit`` seconds for a request. Raises MechanismError if it is not found."""
        self.command.find()
        return Program(self.command, self.parameters, limit)

    def close(self) -> None:
        """End the programs that wait for a request."""
        self.command.close()


Source: TypeAlias = PythonSource | ProgramSource
