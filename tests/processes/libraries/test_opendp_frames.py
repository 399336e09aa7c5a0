"""Lazy frames of OpenDP. It reads the plans of a single polars release, so this runs in a process that finds that release first."""

import os
import subprocess
import sys

import pytest
from installed import ENVIRONMENTS

SITES = [str(site) for site in (ENVIRONMENTS / "opendp").glob("lib/python3.*/site-packages")]
SCRIPT = """
import opendp.prelude as dp
import polars as pl
import auditor
from auditor.libraries.opendp import from_opendp
from auditor.errors import InvalidInputError

dp.enable_features("contrib", "honest-but-curious")
quick = {"samples": 1000, "search": 500, "workers": 1, "isolate": False, "seed": 1, "confidence": 1 - 1e-9}
series = {"n": dp.atom_domain(bounds=(0, 9)), "x": dp.atom_domain(T=float)}
series |= {"k": dp.atom_domain(T=str), "u": dp.atom_domain(T="i64")}
columns = [dp.series_domain(*one) for one in series.items()]
table = dp.with_margin(dp.lazyframe_domain(columns), dp.polars.Margin(by=[], max_length=9))
plan = pl.LazyFrame(schema={"n": pl.Int32, "x": pl.Float64, "k": pl.String, "u": pl.Int64})
by_rows = dp.frame_distance(dp.symmetric_distance())


def count(scale):
    return dp.m.make_private_lazyframe(table, by_rows, dp.max_divergence(), plan.select(dp.len(scale=scale)))


adapted = from_opendp(count(1.0))
assert adapted.claim == auditor.PureDP(1.0)
assert str(adapted.neighbours).startswith("0 to 9 rows (n integer, x number, k categorical, u integer)"), adapted.neighbours
assert from_opendp(count(1.0), d_in=2).claim == auditor.PureDP(2.0)
assert auditor.audit(count(1.0), **quick).verdict == "no_violation_found"
assert auditor.audit(count(0.3), auditor.PureDP(1.0), **quick).verdict == "violation"

kept = dp.t.make_stable_lazyframe(table, by_rows, plan.filter(pl.col("n") > 3))
assert from_opendp(kept).claim == auditor.Sensitivity(1.0)
assert auditor.audit(kept, **quick).verdict == "no_violation_found"
assert auditor.audit(kept, auditor.Sensitivity(0.5), **quick).verdict == "violation"

by_users = dp.frame_distance(dp.symmetric_id_distance("u"))
truncated = plan.filter(pl.int_range(pl.len()).over("u") < 2).select(dp.len(scale=2.0))
users = dp.m.make_private_lazyframe(table, by_users, dp.max_divergence(), truncated)
adapted = from_opendp(users)
assert adapted.claim == auditor.PureDP(1.0), adapted.claim
assert "of persons with 1 to 3 rows each" in str(adapted.neighbours)
assert auditor.audit(users, **quick).verdict == "no_violation_found"

context = dp.Context.compositor(
    data=plan.collect().lazy(),
    privacy_unit=dp.unit_of(contributions=2),
    privacy_loss=dp.loss_of(epsilon=1.0),
    split_evenly_over=1,
    margins=[dp.polars.Margin(by=[], max_length=9)],
)
query = from_opendp(context.query().select(dp.len()))
assert query.claim == auditor.PureDP(1.0)
assert "differ in up to 2 rows" in str(query.neighbours)

dated = dp.lazyframe_domain([dp.series_domain("t", dp.atom_domain(T="NaiveTime"))])
try:
    from_opendp(dp.t.make_stable_lazyframe(dated, by_rows, pl.LazyFrame(schema={"t": pl.Time})))
except InvalidInputError as error:
    assert "is not supported" in str(error), error
else:
    raise AssertionError("a column of times was taken")
"""


@pytest.mark.skipif(not SITES, reason="OpenDP is not installed; `make libraries` installs it")
def test_frames_have_the_claims_and_the_rows_of_their_domains() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*SITES, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
