"""Pages of the site that are made: the command line from its parser, configurations from their schema, and the reports.

A hook of MkDocs. A link from the documents to the source has no target on the site; only its words stay.
"""

import argparse
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from auditor.cli import _parser
from auditor.config.json_schema import json_schema
from auditor.config.schema import Shared

PROJECT = Path(__file__).parent.parent
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made, and the reports as they stand next to the documents."""
    files.append(File.generated(config, "reference/command-line.md", content=command_line()))
    files.append(File.generated(config, "reference/configuration.md", content=configuration()))
    for pattern in ("*.md", "*.svg", "numbers.json"):
        for report in sorted((PROJECT / "reports").rglob(pattern)):
            files.append(File.generated(config, report.relative_to(PROJECT).as_posix(), abs_src_path=str(report)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between the documents and the reports to where both stand on the site."""
    here = page.file.src_path
    root = "" if here.startswith("reports/") else "docs"

    def turned(link: re.Match[str]) -> str:
        words, target, anchor = link[1], link[2], link[3] or ""
        if "://" in target:
            return link[0]
        # As seen from the root of the project, where the documents are one folder deeper than on the site.
        aimed = posixpath.normpath(posixpath.join(root, here, "..", target))
        on_site = aimed.removeprefix("docs/")
        if files.get_file_from_path(on_site) is None:
            # A target that does not exist is left as it is, so that MkDocs reports it.
            return words if (PROJECT / aimed).exists() else link[0]
        up = "../" * here.count("/")
        return f"[{words}]({up}{on_site}{anchor})"

    return _LINK.sub(turned, markdown)


def command_line() -> str:
    """Return the page of all commands and their options, as `--help` shows them."""
    parser = _parser()
    [commands] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    lines = ["# Command line", "", f"{parser.description} {str(parser.epilog).capitalize()}.", ""]
    lines += _options(parser)
    for name, command in commands.choices.items():
        lines += ["", f"## auditor {name}", "", f"{_sentence(command.description or helps[name])}", ""]
        lines += ["```text", re.sub(r"\s+", " ", command.format_usage()).strip(), "```", ""]
        lines += _options(command)
    return "\n".join(lines) + "\n"


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    rows = [_option(action) for action in parser._actions if not isinstance(action, argparse._SubParsersAction)]
    rows = [row for row in rows if "--help" not in row]
    if rows:
        yield from ("| option | what it does |", "|---|---|", *rows)


def _option(action: argparse.Action) -> str:
    value = ""
    if action.nargs != 0:
        value = ", ".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest)
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    return f"| {names} {f'`{value}`' if value else ''} | {_cell(action.help or '')} |"


def configuration() -> str:
    """Return the page of all keys of a configuration, as its schema describes them."""
    schema = json_schema()
    definitions: dict[str, Any] = schema["$defs"]
    lines = [
        "# Configurations",
        "",
        "A configuration is YAML, `version: 1`. `auditor schema` prints this page as a JSON Schema, by which editors complete;",
        "an unknown key is an error that names the nearest valid one. Numbers may be written `1e-5` and `1_000_000`.",
        "",
        "## The file",
        "",
        *_keys(_own(schema)),
        "",
        "## The file, or an audit for itself",
        "",
        *_table({key: schema["properties"][key] for key in Shared.model_fields}),
        "",
        "## An audit",
        "",
        *_keys(_own(definitions["Audit"])),
        f"| `matrix` |  | {_cell(definitions['AuditOfMatrix']['properties']['matrix']['description'])} |",
    ]
    for name in ("Execution", "Search"):
        lines += ["", f"## {name}", "", *_keys(definitions[f"{name}Keys"])]
    lines += ["", "## Claims", "", "| keys | what is promised |", "|---|---|"]
    for form in definitions["Claim"]["anyOf"]:
        lines.append(f"| `{{{', '.join(form['required'])}}}` | {_cell(form['description'])} |")
    lines += ["", "## Neighbours"]
    for form in map(definitions.get, _referred(definitions["Audit"]["properties"]["neighbours"])):
        lines += ["", f"### {_title(form)}", "", _sentence(form["description"]), "", *_keys(form)]
        for name in _referred(form.get("properties", {}).get("record", {})):
            lines += ["", f"`record`: {definitions[name]['description']}", "", *_keys(definitions[name])]
    return "\n".join(lines) + "\n"


def _own(definition: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without the keys that the file and an audit have in common."""
    own = {key: about for key, about in definition["properties"].items() if key not in Shared.model_fields}
    return {**definition, "properties": own}


def _title(form: dict[str, Any]) -> str:
    """Return the key that chooses a form of neighbours, with its value where that is fixed."""
    first = form["required"][0]
    return f"`{first}: {form['properties'][first]['const']}`" if first == "domain" else f"`{first}`"


def _referred(schema: Any) -> list[str]:
    """Return the names of the definitions that a schema refers to, in their order."""
    if isinstance(schema, list):
        return [name for item in schema for name in _referred(item)]
    if not isinstance(schema, dict):
        return []
    return [
        name
        for key, value in schema.items()
        for name in ([value.removeprefix("#/$defs/")] if key == "$ref" else _referred(value))
    ]


def _keys(definition: dict[str, Any]) -> Iterator[str]:
    required = set(definition.get("required", ()))
    yield from _table(definition["properties"], required)


def _table(properties: dict[str, Any], required: set[str] | None = None) -> Iterator[str]:
    yield from ("| key | default | what it says |", "|---|---|---|")
    for key, about in properties.items():
        shown = "needed" if key in (required or ()) else _default(about.get("default"))
        yield f"| `{key}` | {shown} | {_cell(about.get('description', ''))} |"


def _default(value: Any) -> str:
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        return f"`[{', '.join(value)}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else f'{value:_}' if isinstance(value, int) else value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ").replace("%%", "%")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].rstrip(".") + "."
