"""Make the README and the metadata ready for a package index, which shows them outside of the repository.

    python docs/published.py https://host/owner/repository v0.1.0

Links of the README to files become links to these files in the repository, at the tag that is published. The metadata get
the addresses of the repository. Both files are changed in place, in the clone that a release is built from.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).parent.parent
# Not those of other sites, nor within the page.
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?![a-z]+:|#)([^)]+)\)")


def with_absolute_links(readme: str, repository: str, tag: str) -> str:
    """Return the README with links that work anywhere.

    >>> with_absolute_links("[a](docs/a.md#b), [c](https://c)", "https://host/me/it", "v1")
    '[a](https://host/me/it/blob/v1/docs/a.md#b), [c](https://c)'
    >>> with_absolute_links("![p](docs/p.png)", "https://host/me/it", "v1")
    '![p](https://host/me/it/raw/v1/docs/p.png)'
    """

    def absolute(link: re.Match[str]) -> str:
        form = "raw" if link[1] else "blob"
        return f"{link[1]}[{link[2]}]({repository}/{form}/{tag}/{link[3]})"

    return _LINK.sub(absolute, readme)


def with_addresses(metadata: str, repository: str, tag: str) -> str:
    """Return pyproject.toml with the addresses of the project."""
    urls = {
        "Repository": repository,
        "Documentation": f"{repository}/blob/{tag}/docs/index.md",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    table = "\n".join(f'{name} = "{url}"' for name, url in urls.items())
    return metadata.replace("[project.scripts]", f"[project.urls]\n{table}\n\n[project.scripts]", 1)


if __name__ == "__main__":
    for name, changed in (("README.md", with_absolute_links), ("pyproject.toml", with_addresses)):
        text = (PROJECT / name).read_text(encoding="utf-8")
        (PROJECT / name).write_text(changed(text, *sys.argv[1:3]), encoding="utf-8")
