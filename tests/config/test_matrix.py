"""A matrix is written out as audits, and merge keys are resolved: the plans of the file in full, and errors at their line."""

from pathlib import Path

import jsonschema
import pytest

from auditor.claims import ApproximateDP, PureDP
from auditor.cli.common import selected
from auditor.config import Configuration, load_configuration
from auditor.config.json_schema import json_schema
from auditor.config.run_identity import identity
from auditor.config.yaml_text import read_yaml
from auditor.errors import InvalidInputError

VALIDATOR = jsonschema.Draft202012Validator(json_schema())
FILE = """\
version: 1
confidence: 0.9
audits:
  - name: count
    mechanism: somewhere:f
    matrix:
      epsilon: [1, 10, 1e-1]
      data:
        few: {domain: value, values: [0, 1]}
        many: {domain: value, values: [0, 100]}
    parameters: {epsilon: $epsilon, text: "costs $5"}
    claim: {epsilon: $epsilon}
    neighbours: $data
"""
IN_FULL = """\
version: 1
confidence: 0.9
audits:
""" + "".join(
    f"""\
  - name: count, epsilon {epsilon}, data {name}
    mechanism: somewhere:f
    parameters: {{epsilon: {epsilon}, text: "costs $5"}}
    claim: {{epsilon: {epsilon}}}
    neighbours: {{domain: value, values: [0, {most}]}}
"""
    for epsilon in ("1", "10", "0.1")
    for name, most in (("few", 1), ("many", 100))
)
ONE = """\
version: 1
audits:
  - name: count
    mechanism: somewhere:f
    matrix: {matrix}
    parameters: {parameters}
    claim: {claim}
    neighbours: {{domain: value, values: [0, 1]}}
"""


def load(folder: Path, text: str) -> Configuration:
    (folder / "some.yaml").write_text(text, encoding="utf-8")
    return load_configuration(folder / "some.yaml")


def one(matrix: str, parameters: str = "{epsilon: $epsilon}", claim: str = "{epsilon: 1}") -> str:
    return ONE.format(matrix=matrix, parameters=parameters, claim=claim)


def error(folder: Path, text: str) -> str:
    with pytest.raises(InvalidInputError) as caught:
        load(folder, text)
    return str(caught.value)


# --- The matrix ---


def test_a_matrix_is_the_file_with_every_product_written_out(tmp_path: Path) -> None:
    short, full = load(tmp_path, FILE), load(tmp_path, IN_FULL)
    assert [plan.name for plan in short.plans] == [plan.name for plan in full.plans]
    assert short.sharing_budget == full.sharing_budget == 6
    for plan, other in zip(short.plans, full.plans, strict=True):
        assert (plan.claim, plan.alpha, plan.source, plan.rerun) == (
            other.claim,
            other.alpha,
            other.source,
            other.rerun,
        )
        assert str(plan.neighbours) == str(other.neighbours)


def test_the_products_are_what_a_run_is_identified_by(tmp_path: Path) -> None:
    (tmp_path / "somewhere.py").write_text("def f(x, rng, **_): return x", encoding="utf-8")
    short = identity(load(tmp_path, FILE))
    assert short == identity(load(tmp_path, IN_FULL))


def test_a_value_may_be_a_mapping_of_which_parts_are_used(tmp_path: Path) -> None:
    tight = "{epsilon: 1, sigma: 4, claim: {epsilon: 1, delta: 1e-5}}"
    cases = f"{{case: {{tight: {tight}, pure: {{epsilon: 2, sigma: 1, claim: {{epsilon: 2}}}}}}}}"
    text = one(cases, "{epsilon: $case.epsilon, sigma: [$case.sigma]}", "$case.claim")
    first, second = load(tmp_path, text).plans
    assert (first.name, first.claim, first.source.parameters["sigma"]) == (
        "count, case tight",
        ApproximateDP(1, 1e-5),
        [4],
    )
    assert (second.name, second.claim, second.source.parameters["sigma"]) == ("count, case pure", PureDP(2), [1])


def test_words_of_values_are_those_of_yaml(tmp_path: Path) -> None:
    plans = load(tmp_path, one("{epsilon: [true, null, a word, -0.5]}")).plans
    assert [plan.name.removeprefix("count, epsilon ") for plan in plans] == ["true", "null", "a word", "-0.5"]


def test_text_with_a_dollar_stays_in_an_audit_without_a_matrix(tmp_path: Path) -> None:
    text = one("{}", "{word: $epsilon}").replace("    matrix: {}\n", "")
    [plan] = load(tmp_path, text).plans
    assert plan.source.parameters == {"word": "$epsilon"}


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ("epsilon 1", ["epsilon 1, data few", "epsilon 1, data many"]),
        ("data few, epsilon 10", ["epsilon 10, data few"]),
        ("Data f", ["epsilon 1, data few", "epsilon 10, data few", "epsilon 0.1, data few"]),
    ],
)
def test_only_takes_parts_of_a_matrix(tmp_path: Path, only: str, expected: list[str]) -> None:
    [chosen] = selected([load(tmp_path, FILE)], [only])
    assert [plan.name for plan in chosen.plans] == [f"count, {name}" for name in expected]
    assert chosen.sharing_budget == 6


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (one("[1, 2]"), 5, "it must be a mapping of names to values, such as {epsilon: [0.5, 1, 2]}"),
        (one("{epsilon: 1}"), 5, "epsilon is 1; it must be a list of values, such as [0.5, 1, 2], or a mapping of names"),
        (one("{epsilon: []}"), 5, "epsilon is []; it must be a list"),
        (one("{epsilon: [{a: 1}]}"), 5, "gives no name to its audit; write names: epsilon: {name: value, ...}"),
        (one("{eps-ilon: [1]}"), 5, "matrix has the name 'eps-ilon'; it must be a word"),
        (one("{epsilon: [1, 2], size: [3]}"), 5, "nothing in the audit uses size; write $size where its value belongs"),
        (one("{epsilon: [1]}", "{epsilon: $epsilom}"), 6, 'there is no "epsilom"; did you mean "epsilon"?'),
        (one("{epsilon: {a: {b: 1}}}", "{epsilon: $epsilon.c}"), 6, '$epsilon.c is not in the matrix: there is no "c"'),
        (one("{epsilon: [1, 1]}"), 3, 'two audits are called "count, epsilon 1"'),
        (FILE.replace("[0, 100]", "[0]"), 10, "value"),
        (FILE.replace("values: [0, 100]", "valves: [0, 100]"), 10, 'unknown key "valves"'),
        (FILE.replace("claim: {epsilon", "claim: {epsilom"), 12, "epsilom"),
        (FILE.replace("matrix:", "matrx:"), 6, 'unknown key "matrx" in audits; did you mean "matrix"?'),
    ],
)  # fmt: skip
def test_an_error_names_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    message = error(tmp_path, text)
    assert f"some.yaml, line {line}: " in message
    assert words in message


def test_products_are_limited_in_all(tmp_path: Path) -> None:
    axes = ", ".join(f"a{i}: [{', '.join(map(str, range(20)))}]" for i in range(6))
    text = one(f"{{{axes}}}", f"[{', '.join(f'$a{i}' for i in range(6))}]")
    assert "with every matrix written out, the audits hold over 200,000 values" in error(tmp_path, text)


def test_the_schema_takes_a_matrix_and_nothing_else_for_it() -> None:
    assert VALIDATOR.is_valid(read_yaml(FILE, "some.yaml").data)
    assert not VALIDATOR.is_valid(read_yaml(FILE.replace("[1, 10, 1e-1]", "1"), "some.yaml").data)
    assert not VALIDATOR.is_valid(read_yaml(FILE.replace("    parameters", "    parametres"), "some.yaml").data)
    without = FILE[: FILE.index("    matrix")] + FILE[FILE.index("    parameters") :]
    assert not VALIDATOR.is_valid(read_yaml(without, "some.yaml").data)


# --- Merge keys ---


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("{a: &a {x: 1, y: 2}, b: {<<: *a, y: 3}}", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
        ("{a: &a {x: 1, y: 2}, b: {y: 3, <<: *a}}", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
        ("[&a {x: 1}, &b {x: 2, y: 2}, {<<: [*a, *b]}]", [{"x": 1}, {"x": 2, "y": 2}, {"x": 1, "y": 2}]),
        ("[&a {x: 1}, &b {<<: *a, y: 2}, {<<: *b}]", [{"x": 1}, {"x": 1, "y": 2}, {"x": 1, "y": 2}]),
        ('{"<<": 1}', {"<<": 1}),
    ],
    ids=["a key wins", "wherever it is", "the first of several wins", "a merge of a merge", "a text in quotes"],
)
def test_merge_keys_are_those_of_yaml(text: str, data: object) -> None:
    assert read_yaml(text, "x.yaml").data == data


def test_a_merged_key_has_the_line_of_its_own_text() -> None:
    document = read_yaml("a: &a\n  x: 1\n  y: 2\nb:\n  <<: *a\n  y: 3\n", "x.yaml")
    assert (document.line(("b", "x")), document.line(("b", "y"))) == (2, 6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("b: {<<: 1}", "line 1: << merges mappings; write <<: *name, or <<: [*name, *other]"),
        ("[&a [1], {<<: *a}]", "<< merges mappings"),
        ("[&a {}, {<<: [*a, 1]}]", "<< merges mappings"),
        ("[&a {x: 1}, {<<: *a, <<: *a}]", 'the key "<<" appears twice'),
        ("a: &a {<<: *a}", "an alias contains itself"),
    ],
)
def test_other_merges_are_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_yaml(text, "x.yaml")
    assert words in str(caught.value)


@pytest.mark.parametrize("keys", ["", "k: 1, "])
def test_merges_of_merges_are_counted_in_full(keys: str) -> None:
    """Of ten merges each, seven levels are 10⁷ mappings, though the result has one key or none."""
    levels = [f"- &a0 {{{keys}}}"] + [f"- &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}" for i in range(1, 8)]
    with pytest.raises(InvalidInputError, match="over 200,000 values, aliases counted in full"):
        read_yaml("\n".join(levels), "x.yaml")
