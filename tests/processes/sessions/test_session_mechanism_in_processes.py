"""Playing a script against a session, in processes: what is asked, what is recorded, and what a session cannot do."""

import subprocess
import sys


def test_nothing_but_pythons_own_library_is_needed_to_play() -> None:
    program = (
        "import sys; sys.modules['numpy'] = None\n"
        "from auditor.sessions.transcript import play_script\n"
        "from auditor.neighbours.scripts import ScriptedData\n"
        "print(play_script(lambda: len, ScriptedData.of(0, {'ask': [{'ask': 'abc'}]})))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[3]\n"
