"""Queries of smartnoise-sql, each at the cost that its reader states, on frames that its metadata allow.

They draw from their own randomness. A correct reader raises a false alarm with probability below 1e-9; a reader with five times the
claimed ε is missed with probability 1e-6.
"""

from typing import Any

import pandas as pd
import pytest
from installed import QUICK, library

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import adapter_of
from auditor.libraries.smartnoise_sql import QueryAnswer, from_smartnoise_sql

snsql = library("snsql", "smartnoise-sql")
mechanisms = library("snsql.sql._mechanisms", "smartnoise-sql")
# The library's own warning: a division of a noisy sum by a noisy count.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SHORT: dict[str, Any] = QUICK | {"samples": 1500, "search": 400, "planted": 0, "shrink": False}
COLUMNS: dict[str, Any] = {
    "person": {"type": "int", "private_id": True},
    "age": {"type": "int", "lower": 0, "upper": 100},
    "city": {"type": "string", "nullable": False},
}
COUNT, SUM = "SELECT COUNT(*) AS n FROM people", "SELECT SUM(age) AS s FROM people"
BY_CITY = "SELECT city, COUNT(DISTINCT person) AS n FROM people GROUP BY city"


def reader(epsilon: float = 1.0, **table: Any) -> Any:
    metadata = {"": {"": {"people": COLUMNS | table}}}
    empty = pd.DataFrame({name: [] for name in COLUMNS})
    return snsql.from_df(empty, privacy=snsql.Privacy(epsilon=epsilon, delta=0.01), metadata=metadata)


@pytest.mark.parametrize(("query", "claim"), [(COUNT, "ε = 1, δ = 0.005"), (SUM, "ε = 1, δ = 0.005")])
def test_a_query_keeps_what_the_reader_says_it_costs(query: str, claim: str) -> None:
    made = reader(censor_dims=False, max_ids=2)
    assert adapter_of(made) is from_smartnoise_sql
    result = auditor.audit(made, parameters={"query": query}, **SHORT)
    assert (str(result.claim), result.verdict) == (claim, "no_violation_found"), str(result)
    assert not any("censor_dims" in warning for warning in result.warnings)


def test_a_larger_epsilon_than_the_claim_is_a_violation() -> None:
    made = reader(5.0, censor_dims=False)
    assert auditor.audit(made, auditor.PureDP(1.0), parameters={"query": COUNT}, **SHORT).verdict == "violation"


def test_the_metadata_say_who_has_which_rows() -> None:
    plan = planned(reader(max_ids=2), None, None, parameters={"query": BY_CITY, "size": (0, 40), "choices": ["x"]})
    assert str(plan.claim) == "ε = 1, δ = 0.01495"
    assert str(plan.neighbours).startswith(
        "0 to 40 rows (age integer, city categorical) of persons with 1 to 3 rows each; neighbours differ in the rows of one person"
    )
    assert plan.assumptions == ()
    trusted = planned(reader(sample_max_ids=False, censor_dims=False), None, None, parameters={"query": BY_CITY})
    assert "persons with 1 to 1 row each" in str(trusted.neighbours)
    assert any("`censor_dims` is false" in text for text in trusted.assumptions)
    assert any("choices = ('a', 'b'), size = (0, 20)" in text for text in trusted.assumptions)


def test_rows_have_no_owner_under_row_privacy() -> None:
    metadata = {"": {"": {"people": {"row_privacy": True, "age": {"type": "int"}, "paid": {"type": "boolean"}}}}}
    made = snsql.from_df(pd.DataFrame({"age": [1]}), privacy=snsql.Privacy(epsilon=1.0, delta=0.1), metadata=metadata)
    plan = planned(made, None, None, parameters={"query": COUNT})
    assert str(plan.neighbours) == "0 to 20 rows (age integer, paid boolean); neighbours differ in one row"
    assert any("range = (0, 100)" in text for text in plan.assumptions)


def test_an_answer_has_the_rows_of_its_groups_by_name() -> None:
    made = reader()
    rows = pd.DataFrame({"person": range(200), "age": 50, "city": ["x"] * 100 + ["y"] * 100})
    [results] = QueryAnswer(made.metadata, made.privacy, BY_CITY)(rows, 1)
    assert [(city, round(each["n"], -2)) for city, each in results.items()] == [("x", 100), ("y", 100)]
    [[row]] = QueryAnswer(made.metadata, made.privacy, "SELECT COUNT(*) AS n FROM people GROUP BY city LIMIT 1")(
        rows, 1
    )
    assert round(row[0], -2) == 100
    # The reader's own mechanisms are unchanged.
    assert mechanisms.Laplace in made.privacy.mechanisms.classes.values()


def test_a_scale_that_is_kept_is_that_of_the_library() -> None:
    from auditor.libraries.smartnoise_sql import _find_scale_once

    said = {"delta": 0.1, "sensitivity": 3, "max_contrib": 2}
    kept, made = _find_scale_once(mechanisms.Laplace, 0.5, **said), mechanisms.Laplace(0.5, **said)
    assert (kept.scale, kept.epsilon, kept.delta) == (made.scale, made.epsilon, made.delta)
    kept.delta = 1.0
    assert _find_scale_once(mechanisms.Laplace, 0.5, **said).delta == 0


def test_a_column_that_a_query_groups_by_is_summed_without_its_bounds() -> None:
    """See reports/libraries/NEW.md: ages above 100 are clamped, unless the query groups by the age as well."""
    ages = {"age": {"type": "integer", "choices": [10_000, 0]}, "city": {"type": "categorical", "choices": ["a"]}}
    frames = auditor.Frame(ages, size=(20, 25), id="person", rows_per_person=(1, 1), form="pandas")
    for group, verdict in (("age", "violation"), ("city", "no_violation_found")):
        query = {"query": f"SELECT {group}, SUM(age) AS s FROM people GROUP BY {group}"}
        assert auditor.audit(reader(), None, frames, parameters=query, **SHORT).verdict == verdict


def test_a_mechanism_adds_noise_for_its_sensitivity() -> None:
    made = mechanisms.Laplace(1.0, sensitivity=3, max_contrib=2)
    plan = planned(made, None, None)
    assert (str(plan.claim), "two at most 6 apart" in str(plan.neighbours)) == ("ε = 1", True)
    assert auditor.audit(made, **QUICK).verdict == "no_violation_found"
    noisier = mechanisms.Gaussian(1.0, delta=0.01, sensitivity=1)
    assert str(planned(noisier, None, None).claim) == "ε = 1, δ = 0.01"


def test_what_is_missing_or_refused_is_said() -> None:
    with pytest.raises(InvalidInputError, match="needs a claim; a reader does not say what it is asked; say `query`"):
        auditor.audit(reader(), **SHORT)
    with pytest.raises(InvalidInputError, match="refuses the query 'SELECT age FROM people'"):
        from_smartnoise_sql(reader(), query="SELECT age FROM people")
    with pytest.raises(InvalidInputError, match="is not a private reader or a mechanism that adds noise"):
        from_smartnoise_sql(snsql.Privacy(epsilon=1.0))
    two = reader()
    metadata = {"": {"": {"people": COLUMNS, "others": COLUMNS}}}
    two.metadata = snsql.metadata.Metadata.from_(metadata)
    with pytest.raises(InvalidInputError, match="have 2 tables"):
        from_smartnoise_sql(two, query=COUNT)
