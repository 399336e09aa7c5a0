"""YAML anchors and merge keys: audits that inherit keys from another, and errors at the line of their own text."""

from pathlib import Path

import pytest

from auditor.config.load import load_configuration
from auditor.config.yaml_text import read_yaml
from auditor.errors import InvalidInputError

FILE = """\
version: 1
audits:
  - &few
    name: few
    mechanism: somewhere:f
    parameters: &tight {epsilon: 1, sigma: 4}
    claim: {epsilon: 1}
    neighbours: {domain: value, values: [0, 1]}
  - &many
    <<: *few
    name: many
    neighbours: {domain: value, values: [0, 100]}
  - <<: *many
    name: many, loose
    parameters: {<<: *tight, epsilon: 2}
    claim: {epsilon: 2}
"""
IN_FULL = "version: 1\naudits:\n" + "".join(
    f"""\
  - name: {name}
    mechanism: somewhere:f
    parameters: {{epsilon: {epsilon}, sigma: 4}}
    claim: {{epsilon: {epsilon}}}
    neighbours: {{domain: value, values: [0, {most}]}}
"""
    for name, epsilon, most in (("few", 1, 1), ("many", 1, 100), ("many, loose", 2, 100))
)


def test_audits_with_merge_keys_are_the_audits_written_in_full(tmp_path: Path) -> None:
    for name, text in (("short", FILE), ("full", IN_FULL)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "some.yaml").write_text(text, encoding="utf-8")
    short, full = (load_configuration(tmp_path / name / "some.yaml") for name in ("short", "full"))
    assert [plan.name for plan in short.plans] == ["few", "many", "many, loose"]
    for plan, other in zip(short.plans, full.plans, strict=True):
        assert (plan.name, plan.claim, plan.alpha, plan.source.parameters, str(plan.neighbours)) == (
            *(other.name, other.claim, other.alpha, other.source.parameters, str(other.neighbours)),
        )


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("[0, 100]", "[0]", 12, "value"),
        ("values: [0, 100]", "valves: [0, 100]", 12, 'unknown key "valves"'),
        ("claim: {epsilon: 2}", "claim: {epsilom: 2}", 16, "epsilom"),
        ("    parameters: &tight", "    matrix: {epsilon: [1, 2]}\n    parameters: &tight", 6, "<<: *first"),
    ],
)
def test_an_error_in_a_merged_key_names_the_line_that_wrote_it(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    file = tmp_path / "some.yaml"
    file.write_text(FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        load_configuration(file)
    assert f"some.yaml, line {line}: " in str(caught.value)
    assert words in str(caught.value)


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
    """With ten merges at each of seven levels there are 10⁷ mappings, though the result has one key or none."""
    levels = [f"- &a0 {{{keys}}}"] + [f"- &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}" for i in range(1, 8)]
    with pytest.raises(InvalidInputError, match="over 200,000 values, aliases counted in full"):
        read_yaml("\n".join(levels), "x.yaml")
