"""What report.md.jinja says, computed from the numbers of the study."""

from typing import Any

from studies.words import num, table


def values(numbers: Any) -> dict[str, Any]:
    summaries, smooth, release = numbers["errors"]["summaries"], numbers["smooth"], numbers["propose_test_release"]
    cases = {case["name"]: case for case in numbers["profiles"]}
    point, test = release["points"][0], cases["propose-test-release"]

    def mean(name: str) -> str:
        return f"{num(summaries[name]['mean'])} %"

    def at_claim(case: Any, kind: str) -> list[str]:
        if kind not in case:
            return []
        sampled = next(p["delta"] for p in case[kind]["sampled"] if p["epsilon"] == case["claimed_epsilon"])
        claim = f"({case['claimed_epsilon']:g}, {num(case['claimed_delta'], 1)})"
        name = f"{case['name']}, {'as printed' if kind == 'printed' else 'corrected'}"
        return [name, claim, num(case[kind]["at_claim"]), num(sampled), case[kind]["pair"]]

    return {
        "cases": cases,
        "chunks": -(-numbers["rows"] // -(-numbers["rows"] // 6000)),
        "cliff": smooth["cliff"],
        "errors_table": table(
            ["mechanism", "mean percent error", "standard error"],
            [[name, num(entry["mean"]), num(entry["standard_error"], 2)] for name, entry in summaries.items()],
        ),
        "mean": mean,
        "point": point,
        "profiles_table": table(
            ["mechanism", "claim (ε, δ)", "δ at the claimed ε", "sampled ≥", "neighbours"],
            [row for case in cases.values() for kind in ("printed", "corrected") if (row := at_claim(case, kind))],
        ),
        "release": release,
        "smooth": smooth,
        "test": test,
    }
