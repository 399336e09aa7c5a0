# %% [markdown]
# # A regression check
#
# The report of a release is kept; the next version is compared with it. Here both happen in one notebook: version 1 of a histogram
# is audited, then a "speed-up" that passes the same audit, then one that does not.

# %%
import subprocess
import sys
from pathlib import Path

import auditor

Path("histogram.py").write_text(
    '''
def version_1(counts, size, rng):
    """Laplace noise of scale 1.25 on each count; one person is in one bin: ε = 0.8."""
    return counts + rng.laplace(scale=1.25, size=(size, len(counts)))


def version_2(counts, size, rng):
    """The same noise, rounded: what is done to the output costs no privacy."""
    return version_1(counts, size, rng).round()


def version_3(counts, size, rng):
    """Noise for the bins that somebody is in, and none for the others, "which need none"."""
    return (counts + rng.laplace(scale=1.25, size=(size, len(counts)))) * (counts > 0)
''',
    encoding="utf-8",
)


def run(version, *options):
    """Audit a version by the command line, and return the exit status."""
    Path(f"{version}.yaml").write_text(
        f"""
version: 1
samples: 20_000
audits:
  - name: histogram
    mechanism: histogram.py:{version}
    claim: {{epsilon: 1.0}}
    neighbours: {{domain: totals, cells: 3, values: {{low: 0, high: 9}}, contribution: {{l1: 1}}}}
""",
        encoding="utf-8",
    )
    return command("run", f"{version}.yaml", "--quiet", *options)


def command(*arguments):
    """Run the auditor as in a shell, print what it prints, and return the exit status."""
    done = subprocess.run([sys.executable, "-m", "auditor", *arguments], capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    return done.returncode


# %% [markdown]
# ## The release

# %%
released = run("version_1")

# %% [markdown]
# ## Two candidates
#
# Exit status 0 lets a pipeline go on; 1 stops it. `auditor run --baseline` does both steps in one, where the configuration keeps
# its name.

# %%
statuses = {}
for version in ("version_2", "version_3"):
    run(version)
    statuses[version] = command("compare", "reports/version_1/report.json", f"reports/{version}/report.json")
print(statuses)

# %% [markdown]
# ## What happened
#
# Reports can be read back, shown, and put into a frame, without the mechanism.

# %%
worse = auditor.read_report("reports/version_3/report.json")
[audit] = worse.audits
print(audit.pair, audit.event["description"])
worse.to_frame()[["claim", "verdict", "bound", "bound_outputs"]]
