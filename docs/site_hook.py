"""A hook of MkDocs that publishes the reports with the site.

Pages of reports, which have the plots, are not tracked: they are made from each report.json while the site is built, as by
`auditor show --html`. A link from the documents to the source has no target on the site, so only its words stay.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from auditor import read_report
from auditor.report.html import to_html

PROJECT = Path(__file__).parent.parent
PAGE = "report.html"
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reports next to the documents, with the page of each report.json."""
    for pattern in ("*.md", "*.svg", "numbers.json"):
        for report in sorted((PROJECT / "reports").rglob(pattern)):
            files.append(File.generated(config, report.relative_to(PROJECT).as_posix(), abs_src_path=str(report)))
    for report in sorted((PROJECT / "reports").rglob("report.json")):
        page = report.with_name(PAGE).relative_to(PROJECT).as_posix()
        files.append(File.generated(config, page, content=to_html(read_report(report))))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between the documents and the reports to where both stand on the site, and link a summary to its page."""
    here = page.file.src_path
    if files.get_file_from_path(posixpath.join(posixpath.dirname(here), PAGE)) is not None:
        markdown = markdown.replace("\n", f"\n\n[The report with its plots]({PAGE})\n", 1)
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
