"""The commands that run no audit: `init`, `schema`, `check`, `plan`, `prove` and `check-proof`."""

import argparse
import json
from collections.abc import Sequence

from auditor.auditing.check import draw_once
from auditor.auditing.foresight import EXCESS, Foresight, canaries_needed, foresee
from auditor.auditing.plan import CHANCES, Plan
from auditor.claims import PrivacyClaim, QueryClaim
from auditor.cli.common import load_all, make_folder, naming, open_console, say, warn, write_to
from auditor.cli.options import AS_EXPECTED, BAD_INPUT, NO_ANSWER, PROVED_FOR_PAIRS, UNEXPECTED
from auditor.config.schema import json_schema
from auditor.errors import InvalidInputError, visible
from auditor.foreign_code import describe_error, result_or_error
from auditor.neighbours.canaries import Canaries
from auditor.prover import GROUP, Attempted, Prover, Status, prover
from auditor.report.phrases import number, relation_words
from auditor.report.terminal import escaped, table_for
from auditor.untrusted_files import read_json
from auditor.verdict import Verdict


def init(options: argparse.Namespace) -> int:
    """Write a first configuration."""
    from auditor.config.scaffold import scaffold  # no other command here needs its templates

    if options.out.exists() and not options.force:
        raise InvalidInputError(
            f"{options.out} exists already; give another name by `-o`, or `--force` to overwrite it"
        )
    text, audits = scaffold(options.mechanism, options.out)
    write_to(str(options.out), text)
    say(f"written: {options.out}")
    for audit in audits:
        for note in audit.notes:
            say(f"  {audit.name}: {note}")
        if audit.guessed:
            say(f"  {audit.name}: guessed, so set it: {', '.join(audit.guessed)}")
    problems = [audit for audit in audits if audit.problem]
    for audit in problems:
        say(f"  {audit.name}: it does not pass `auditor check` yet: {audit.problem}")
    say(f"next: auditor {'check' if problems else 'run'} {options.out}")
    return BAD_INPUT if problems else AS_EXPECTED


def schema(options: argparse.Namespace) -> int:
    """Print the JSON Schema."""
    print(json.dumps(json_schema(), indent=1, ensure_ascii=False))
    return AS_EXPECTED


def check(options: argparse.Namespace) -> int:
    """Draw one output from each side of each audit."""
    status = AS_EXPECTED
    for configuration in load_all(options):
        for plan in configuration.plans:
            with naming(configuration, plan):
                first = draw_once(plan)
            where = f"{configuration.file}: {plan.name}"
            say(f"{where}: {first}; relation {first.pair.relation} ({relation_words(first.pair.relation)})")
            if cost := first.cost():
                say(f"{where}: {cost}")
            if doubt := first.doubt():
                warn(f"{where}: {doubt}")
            if len(first.failures) == 2:
                status = NO_ANSWER
        for accountant in configuration.accountants:
            with naming(configuration, accountant):
                say(f"{configuration.file}: {accountant.name}: {accountant.try_once()}")
    return status


def plan(options: argparse.Namespace) -> int:
    """Print what violations each audit would catch."""
    console = open_console()
    for configuration in load_all(options):
        headings = ("audit", "claim", "outputs", "event on", "chance", "smallest violation caught")
        table = table_for((*headings, f"needed to catch {EXCESS:.0%} above the claim"), configuration.name)
        notes = list[str]()
        for plan in configuration.plans:
            audit = escaped(plan.name), str(plan.claim)
            rows = foresee(plan)
            if words := _too_few_canaries(plan, rows):
                notes.append(f"{escaped(plan.name)}: {words}")
            if not rows:
                said = "nothing is claimed: the loss is measured"
                if isinstance(plan.claim, QueryClaim):
                    said = "one counterexample refutes the claim"
                table.add_row(*audit, "–", "–", "–", said, "–")
            for row in rows:
                needed = f"{row.needed:,.0f}" if row.needed < float("inf") else "out of reach"
                drawn, share, chance = f"{plan.settings.samples:,}", f"{row.share:.0%} of outputs", f"{row.chance:.0%}"
                if isinstance(plan.neighbours, Canaries):
                    drawn, share = f"{plan.neighbours.runs:,}", "canaries"
                    needed += " canaries" * (row.needed < float("inf"))
                table.add_row(*audit, drawn, share, chance, number(row.caught), needed)
        console.print(table)
        for note in notes:
            console.print(note)
    return AS_EXPECTED


def _too_few_canaries(plan: Plan, rows: Sequence[Foresight]) -> str:
    """Say how many canaries are needed, if those of the plan can refute nothing. Return an empty text otherwise."""
    canaries = plan.neighbours
    if not isinstance(canaries, Canaries) or any(row.caught < float("inf") for row in rows):
        return ""
    chance = CHANCES[-1][1]
    least, least_apart = (canaries_needed(plan, canaries, chance, apart=apart) for apart in (canaries.apart, True))
    words = f"too few canaries to refute {plan.claim}, however large the violation; "
    words += f"{least:,.0f} or more, of all runs together, can" if least < float("inf") else "no number of them can"
    if least_apart < least:
        words += f"; {least_apart:,.0f} with `apart: true`, if you can prove that no canary affects another one's score"
    return words


# --- Proofs ---


def prove(options: argparse.Namespace) -> int:
    """Try to prove the claims of configurations."""
    console, asked = open_console(), _prover()
    status = AS_EXPECTED
    for configuration in load_all(options):
        table = table_for(("audit", "claim", "proof"), configuration.name)
        for place, plan in enumerate(configuration.plans, 1):
            claim = plan.claim
            if plan.source.is_program or not isinstance(claim, PrivacyClaim) or not claim.is_stated:
                table.add_row(escaped(plan.name), str(claim), "– only privacy claims of Python mechanisms are tried")
                continue
            proof: Attempted | BaseException
            with naming(configuration, plan):
                proof = result_or_error(asked.attempt, plan.source.drawer(), claim, plan.domain, options.seconds)
            if isinstance(proof, BaseException):  # an error of the prover itself
                ended, words = Status.NOT_PROVED, f"not proved: the attempt ended in an error, {describe_error(proof)}"
            else:
                ended, words = proof.status, str(proof)
            table.add_row(escaped(plan.name), str(claim), escaped(words))
            # If a violation is expected, a proof is not wrong: it is about real numbers, the violation about floating point.
            if ended != Status.PROVED and plan.expect is not Verdict.VIOLATION:
                is_for_pairs = ended == Status.PROVED_FOR_PAIRS and status != UNEXPECTED
                status = PROVED_FOR_PAIRS if is_for_pairs else UNEXPECTED
            if options.out is not None and not isinstance(proof, BaseException) and proof.certificate is not None:
                folder = options.out / configuration.name
                make_folder(folder)
                write_to(str(folder / f"proof-{place}.json"), json.dumps(proof.certificate, indent=1) + "\n")
        console.print(table)
    return status


def check_proof(options: argparse.Namespace) -> int:
    """Check certificates."""
    asked = _prover()
    for file in options.certificates:
        certificate = read_json(file, 200_000_000, "a certificate")
        try:
            words = asked.checked(certificate, options.retrace)
        except ValueError as error:
            say(f"{file}: refused: {visible(error, 500)}")
            return UNEXPECTED
        say(f"{file}: holds: {words}")
    return AS_EXPECTED


def _prover() -> Prover:
    if (asked := prover()) is None:
        raise InvalidInputError(f"no prover is installed; dp-auditor has one, at its entry point of the group {GROUP}")
    return asked
