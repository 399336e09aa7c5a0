"""Pages of the reference that are made: commands from the parser, configurations from their schema, Python from docstrings.

They are committed, so that a clone has them. `python docs/made.py` writes them anew.
"""

import argparse
import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import auditor
from auditor.claims import CLAIM_KINDS
from auditor.cli.options import all_commands
from auditor.config import schema
from auditor.defaults import ExecutionKeywords

REFERENCE = Path(__file__).parent / "reference"
WIDEST = 110
NAMES_FOR_EXTENSIONS = """\
CONTRIBUTING.md adds a claim, a method, a domain and a report format with these names of `auditor.extending`.

- Claims: `PrivacyClaim`, `register_claim`
- Methods: `Method`, `Learned`, `METHODS`, `Methods`, `GaussianGuesses`; a method is given `Sample`, `Event`, `GuessCounts`
- Limits: `clopper_pearson_lower`, `rate_that_refutes`
- Domains: `Domain`, `Pair`, `Relation`
- Report formats: `FORMATS`, `Format`
- Adapters: `Adapted`, and `adapt_object`, which gives an object its parameters
"""
ABOUT_PYTHON = """\
The package `auditor` is public, and so are [`auditor.exact`](#exact-numbers), for numbers of processes that are known, and
[`auditor.extending`](#extending), for claims, methods, domains and report formats of your own. All other modules may
change in any version. Numbers are in nats. The
[fixture `dp_audit`](../how-to/release.md#in-a-test-suite) takes the arguments of `audit`. [Configurations](configuration.md)
explains the arguments that are also keys. In Python, ranges are (low, high), and `prove` is False by default. Arguments that are
not possible raise `InvalidInputError`, which says what is allowed.
"""
# In the order of the page on configurations: that in which they are registered.
CLAIMS = tuple(dict.fromkeys(kind.__name__ for kind in CLAIM_KINDS.values()))
# Headings, what is said below them, and the names that follow.
PYTHON: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Audits", "", ("audit",)),
    ("Claims", "[Claims of a configuration](configuration.md#claims) says what each promises.", (*CLAIMS, "claim_of")),
    (
        "Neighbours",
        "A list of pairs `[(left, right), ...]`, or one of these.",
        (
            *("Value", "OneNumber", "Records", "Vectors", "Totals", "TotalsByKey", "Frame", "Pairs", "Valid", "Epoch"),
            *("Dialogues", "Canaries"),
        ),
    ),
    ("Programs", "", ("Command",)),
    ("Global generators", "", ("seeded",)),
    (
        "Accountants",
        "[Audit your accountant](../how-to/accountant.md) explains what is stated, and of which process.",
        ("audit_accountant", "Accountant", "Range", "AccountantResult"),
    ),
    ("Scores that exist already", "", ("audit_scores", "ScoreBounds")),
    (
        "Results",
        "",
        (
            *("AuditResult", "RunResult", "read_report"),
            *("bounds.evidence.Bound", "neighbours.pair.Pair", "results.result.OutputsSpent", "Verdict"),
        ),
    ),
    (
        "Exact numbers",
        "[Compute an exact number](../how-to/exact.md) explains relations and sampling. These are names of `auditor.exact`.",
        tuple(
            f"exact.{name}"
            for name in (
                *("Process", "Composition", "Gaussian", "Laplace", "DiscreteGaussian", "DiscreteLaplace"),
                *("RandomizedResponse", "ExponentialMechanism", "Table", "Poisson", "FixedSize", "Allocation"),
                *("epsilon_interval", "delta_interval", "renyi_interval", "mu_interval", "Interval"),
            )
        ),
    ),
    ("Errors", "", ("AuditorError", "InvalidInputError", "MechanismError")),
    ("Extending", NAMES_FOR_EXTENSIONS, ()),
)
# Keys of a configuration, for all audits of a file.
CONFIGURED = {*schema.Shared.model_fields, *ExecutionKeywords.__annotations__, "confidence"}
# Results, whose methods and properties a user needs. Those of all others are for extensions.
WITH_MEMBERS = {"AccountantResult", "AuditResult", "RunResult", "Bound", "ScoreBounds", "Interval"}
# Where a configuration has arguments by the same names, whose page explains them: the keys, and the heading.
AS_KEYS: dict[str, tuple[set[str], str]] = {
    "audit": ({*CONFIGURED, "events", "observe"} - {"confidence"}, ""),
    "Dialogues": ({"ask", "rounds", "sessions", "meter"}, "#an-audit"),
    **{
        name: ({*form.model_fields} - {"form"}, f"#domain-{domain}")
        for name, domain, form in (
            ("Value", "value", schema.OneValue),
            ("OneNumber", "number", schema.NumberApart),
            ("Records", "records", schema.ListOfRecords),
            ("Totals", "totals", schema.TotalsKeys),
            ("TotalsByKey", "totals", schema.TotalsKeys),
            ("Frame", "frame", schema.FrameOfRows),
            ("Canaries", "canaries", schema.CanariesByCoins),
        )
    },
}


def pages() -> dict[str, str]:
    """Return each page by its file in docs/reference."""
    return {"command-line.md": command_line(), "configuration.md": configuration(), "python.md": python()}


# --- The command line ---


def command_line() -> str:
    """Return the page of all commands and their options: each option once, by the words of `--help`."""
    parser = all_commands()
    [commands] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    told: dict[tuple[str, str], str] = {}
    lines = ["# Command line", "", f"{parser.description} {str(parser.epilog).capitalize()}.", ""]
    lines += _options(parser, "auditor", told)
    for name, command in commands.choices.items():
        called = " ".join([f"auditor {name}", *map(_positional, command._get_positional_actions())])
        lines += ["", f"## auditor {name}", "", f"`{called}`: {command.description or helps[name]}.", ""]
        lines += _options(command, f"auditor {name}", told)
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _positional(action: argparse.Action) -> str:
    return f"{action.metavar} ..." if action.nargs else str(action.metavar)


def _options(parser: argparse.ArgumentParser, command: str, told: dict[tuple[str, str], str]) -> Iterator[str]:
    """Yield a list of options; those that are keys of a configuration, or options of an earlier command, by name only."""
    rows, keys, again = [], [], []
    replaces = any(action.dest == "configs" for action in parser._actions)
    for action in parser._actions:
        said = (", ".join(f"`{name}`" for name in action.option_strings), action.help or "")
        if (
            isinstance(action, argparse._SubParsersAction)
            or said[1] in ("", argparse.SUPPRESS)
            or action.dest == "help"
        ):
            continue
        if told.setdefault(said, command) != command:
            again.append((said[0], told[said]))
        elif replaces and action.dest in CONFIGURED:
            keys.append(said[0])
        else:
            rows.append(_option(action))
    yield from rows
    if keys:
        yield from ("", f"These replace the [keys](configuration.md) of the same names: {', '.join(keys)}.")
    for earlier in dict.fromkeys(command for _, command in again):
        yield from (
            "",
            f"The same as in `{earlier}`: {', '.join(names for names, command in again if command == earlier)}.",
        )


def _option(action: argparse.Action) -> str:
    value = ""
    if action.nargs != 0:
        value = ", ".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest)
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    return f"- {' '.join(filter(None, [names, f'`{value}`' if value else '']))}: {_escaped(action.help or '')}."


# --- Configurations ---


def configuration() -> str:
    """Return the page of all keys of a configuration, as its schema describes them."""
    whole = schema.json_schema()
    definitions: dict[str, Any] = whole["$defs"]
    lines = [
        "# Configurations",
        "",
        "A configuration is YAML with `version: 1`. `auditor schema` prints this page as a JSON Schema, for completion in editors.",
        "An unknown key is an error that names the nearest valid one. Numbers may be written `1e-5` and `1_000_000`.",
        "Defaults are in brackets.",
        "",
        "## The file",
        "",
        *_keys(_own(whole)),
        "",
        "## The file, or an audit for itself",
        "",
        *_listed({key: whole["properties"][key] for key in schema.Shared.model_fields}),
        "",
        "## An audit",
        "",
        *_keys(_own(definitions["Audit"])),
    ]
    for name in ("Execution",):
        lines += ["", f"## {name}", "", *_keys(definitions[f"{name}Keys"])]
    lines += ["", "## An accountant", "", *_keys(definitions["AccountantKeys"])]
    lines += ["", "`parameters`: a range", "", *_keys(definitions["ParameterRange"])]
    lines += ["", "## Claims", ""]
    forms: dict[str, list[str]] = {}
    for form in definitions["Claim"]["anyOf"]:
        forms.setdefault(_escaped(_code(form["description"])), []).append(f"`{{{', '.join(form['required'])}}}`")
    lines += [f"- {', '.join(keys)}: {said}" for said, keys in forms.items()]
    lines += ["", "## Neighbours"]
    for form in map(definitions.get, _referred(definitions["Audit"]["properties"]["neighbours"])):
        lines += ["", f"### {_title(form)}", "", _sentence(form["description"]), "", *_keys(form)]
        for name in _referred(form.get("properties", {}).get("record", {})):
            lines += ["", f"`record`: {definitions[name]['description']}", "", *_keys(definitions[name])]
    return "\n".join(lines) + "\n"


def _own(definition: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without the keys that the file and an audit have in common."""
    own = {key: about for key, about in definition["properties"].items() if key not in schema.Shared.model_fields}
    return {**definition, "properties": own}


def _title(form: dict[str, Any]) -> str:
    """Return the key that chooses a form of neighbours, with its value where that is fixed."""
    first = form["required"][0]
    return f"`{first}: {form['properties'][first]['const']}`" if first == "domain" else f"`{first}`"


def _referred(described: Any) -> list[str]:
    """Return the names of the definitions that a schema refers to, in their order."""
    if isinstance(described, list):
        return [name for item in described for name in _referred(item)]
    if not isinstance(described, dict):
        return []
    return [
        name
        for key, value in described.items()
        for name in ([value.removeprefix("#/$defs/")] if key == "$ref" else _referred(value))
    ]


def _keys(definition: dict[str, Any]) -> Iterator[str]:
    required = set(definition.get("required", ()))
    # The heading has a key of one value only.
    yield from _listed(
        {key: about for key, about in definition["properties"].items() if "const" not in about}, required
    )


def _listed(properties: dict[str, Any], required: set[str] | None = None) -> Iterator[str]:
    for key, about in properties.items():
        shown = "needed" if key in (required or ()) else _default(about.get("default"))
        yield f"- `{key}`{f' ({shown})' if shown else ''}: {_escaped(about.get('description', ''))}"


def _default(value: Any) -> str:
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        return f"`[{', '.join(value)}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else f'{value:_}' if isinstance(value, int) else value}`"


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("\n", " ").replace("%%", "%")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].rstrip(".") + "."


# --- Python ---


def python() -> str:
    """Return the page of what is public in Python, from the docstrings."""
    parts = [f"# Python\n\n{ABOUT_PYTHON}"]
    for heading, words, names in PYTHON:
        parts.append(f"## {heading}\n")
        parts += [f"{words.rstrip()}\n"] if words else []
        parts += [_entry(name) for name in names]
    return "\n".join(parts)


def _entry(path: str) -> str:
    """Return what is said of one public name, and of its members."""
    module, _, name = path.rpartition(".")
    home = importlib.import_module(f"auditor.{module}") if module else auditor
    thing = getattr(home, name)
    if not inspect.isclass(thing) and not inspect.isfunction(thing):
        return f"### {name}\n\n{_prose(str(thing.__doc__))}\n"
    node = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    said = inspect.getdoc(thing) or ""
    if name != "audit":  # the pages of tasks have examples
        said = said.partition("\n\n>>>")[0]
    if inspect.isclass(thing):  # they raise one kind of error, which says what is allowed
        said = re.sub(r"\s*\bRaises InvalidInputError\b.*?\.(?=\n\n|$)", "", said, flags=re.DOTALL)
    if name in CLAIMS:
        said = said.partition("\n\n")[2]
    # A result that nobody makes has no signature.
    called = [] if name == "AuditResult" else [*_fenced(_signature(name, node)), ""]
    lines = [f"### {name}", "", *called, _prose(said, *AS_KEYS.get(name, ())), ""]
    for member in node.body if isinstance(node, ast.ClassDef) and name in WITH_MEMBERS else []:
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            said = inspect.getdoc(getattr(thing, member.name)) or ""
            spelled = " ".join(_signature(member.name, member).split())
            lines += [f"- `{spelled}`: {_line(said.partition('>>>')[0])}"]
        # A value of a part: `name = _Of[type]("part", "what it is")`.
        if isinstance(member, ast.Assign) and isinstance(member.value, ast.Call):
            kind, value = member.value.func, ast.unparse(member.targets[0])
            assert isinstance(kind, ast.Subscript)
            lines += [f"- `{value}: {_type(kind.slice)}`: {_line(inspect.getdoc(getattr(thing, value)) or '')}"]
    return "\n".join(lines).rstrip() + "\n"


def _signature(name: str, node: ast.stmt) -> str:
    """Return how a function is called, how an object is made, or the type of a property."""
    if isinstance(node, ast.ClassDef):
        made = [
            part for part in node.body if isinstance(part, ast.FunctionDef) and part.name in ("__init__", "__new__")
        ]
        if made:
            return _called(name, made[-1], returns=False)
        fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
        own = [part for part in fields if "ClassVar" not in ast.unparse(part.annotation) and _is_given(part)]
        named = [ast.unparse(part) for part in node.body if isinstance(part, ast.Assign)]
        listed = [_taken(ast.unparse(part.target), part.annotation, _default_of(part.value)) for part in own]
        return _laid_out(name, listed) if own else "\n".join([name, *(f"    {one}" for one in named)])
    assert isinstance(node, ast.FunctionDef)
    if any(ast.unparse(part) in ("property", "functools.cached_property") for part in node.decorator_list):
        return f"{name}: {_type(node.returns)}"
    return _called(name, node)


def _is_given(part: ast.AnnAssign) -> bool:
    return not ast.unparse(part.target).startswith("_") or ast.unparse(part.annotation) == "KW_ONLY"


def _default_of(value: ast.expr | None) -> ast.expr | None:
    """Return the default of a field of a dataclass."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        return next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
    return value


def _called(name: str, node: ast.FunctionDef, *, returns: bool = True) -> str:
    taken = node.args
    plain = [arg for arg in (*taken.posonlyargs, *taken.args) if arg.arg not in ("self", "cls")]
    defaults = [*[None] * (len(plain) - len(taken.defaults)), *taken.defaults]
    words = [_taken(arg.arg, arg.annotation, default) for arg, default in zip(plain, defaults, strict=True)]
    words += [f"*{taken.vararg.arg}"] if taken.vararg else ["*"] if taken.kwonlyargs else []
    by_name = zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
    words += [_taken(arg.arg, arg.annotation, default) for arg, default in by_name]
    words += [_taken(f"**{taken.kwarg.arg}", taken.kwarg.annotation, None)] if taken.kwarg else []
    return _laid_out(name, words) + (f" -> {_type(node.returns)}" if returns else "")


def _taken(name: str, kind: ast.expr | None, default: ast.expr | None) -> str:
    if kind is not None and ast.unparse(kind) == "KW_ONLY":
        return "*"
    return f"{name}{f': {_type(kind)}' if kind else ''}{f' = {ast.unparse(default)}' if default else ''}"


def _type(node: ast.expr | None) -> str:
    """Return a type without what only the reader of reports needs."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
        return _type(node.slice.elts[0])
    text = (
        node.value
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        else ast.unparse(node)
        if node
        else ""
    )
    return re.sub(r"Annotated\[(\w+), \w+\(\w*\)\]", r"\1", re.sub(r"(?<=[a-z])Field\b", "", str(text)))


def _laid_out(name: str, words: list[str]) -> str:
    line = f"{name}({', '.join(words)})"
    return line if len(line) <= WIDEST else "\n".join([f"{name}(", *(f"    {word}," for word in words), ")"])


def _fenced(text: str) -> Iterator[str]:
    yield from ("```text", text, "```")


def _prose(said: str, keys: Container[str] = (), heading: str = "") -> str:
    """Return a docstring as Markdown: lists of arguments as lists, examples as they are, names as code.

    Arguments that are ``keys`` of a configuration have a link to its page instead.
    """
    parts = []
    for block in re.split(r"\n\n+", said):
        if block.startswith(">>>"):
            parts.append("\n".join(_fenced(block)))
        elif listed := re.match(r"(\w[\w ]*):\n(?= )", block):
            entries = re.split(r"\n(?=\S)", textwrap.dedent(block[listed.end() :]))
            told = [entry for entry in entries if re.split(r"\W", entry)[0] in keys]
            items = [_item(entry) for entry in entries if entry not in told]
            if told and not items and listed[1] == "Args":
                parts.append(f"The arguments are the [keys](configuration.md{heading}) of the same names.")
                continue
            if told:
                # A signature has the names of its arguments, but not of its keywords.
                names = [f"`{re.split(r'[ :]', entry)[0]}`" for entry in told]
                which = ", ".join(names) if listed[1] != "Args" else "all others"
                items.append(f"- {which}: the [keys](configuration.md{heading}) of the same names.")
            parts.append(f"{listed[1]}:\n\n" + "\n".join(items))
        else:
            parts.append(_code(block))
    return "\n\n".join(parts)


def _item(entry: str) -> str:
    name, _, said = entry.partition(": ")
    name, _, kind = name.partition(" ")
    return f"- `{name}`{f' {kind}' if kind else ''}: {_line(said)}"


def _line(text: str) -> str:
    return _code(" ".join(text.split()))


def _code(text: str) -> str:
    """Return names in the form that Markdown has for them."""
    return re.sub(r":\w+:(?=`)", "", text).replace("``", "`")
