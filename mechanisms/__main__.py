"""Write the table of specimens and of the verdicts in their reports: ``python -m mechanisms [DIR]``, by default to reports/."""

import sys
from pathlib import Path

from auditor.results.files import write_whole
from mechanisms.specimen_table import specimen_table
from mechanisms.specimens import list_specimens


def main(folder: Path = Path("reports")) -> None:
    """Write DIR/README.md from the reports in DIR. Raises InvalidInputError if a report cannot be read."""
    write_whole(folder / "README.md", specimen_table(list_specimens(), folder))
    print(f"written: {folder / 'README.md'}")


if __name__ == "__main__":  # it is listed as a module of specimens, too
    main(*map(Path, sys.argv[1:]))
