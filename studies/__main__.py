"""Run every study, or the ones named: ``python -m studies [NAME ...]``. Results go to reports/studies/."""

import sys
import time

from studies.study import STUDIES, write


def main(names: list[str]) -> None:
    for name in names or STUDIES:
        if name not in STUDIES:
            sys.exit(f'no study is called "{name}"; there are {", ".join(STUDIES)}')
        start = time.perf_counter()
        write(name)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
