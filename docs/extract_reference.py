"""Text of Debian's libreoffice-help-pl and manpages-pl, as JSON lines (id, text).

    apt-get download libreoffice-help-pl manpages-pl manpages-pl-dev   # in FOLDER; dpkg-deb -x NAME.deb x_NAME
    python extract_reference.py FOLDER OUT.jsonl [--polish-lines]

--polish-lines keeps only lines with a Polish diacritic letter, and only documents with 200 characters left.
"""

import gzip
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

DIACRITICS = set("ąćęłńóśźżĄĆĘŁŃÓŚŹŻ")
BLOCKS = {
    "p",
    "div",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "li",
    "tr",
    "td",
    "th",
    "br",
    "pre",
    "table",
    "ul",
    "ol",
}


class Page(HTMLParser):
    """The visible text of a page's main part (id DisplayArea), one block a line."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.inside, self.skip = [], False, 0

    def handle_starttag(self, tag, attrs):
        if dict(attrs).get("id") == "DisplayArea":
            self.inside = True
        if tag in ("script", "style"):
            self.skip += 1
        if self.inside and tag in BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.skip -= 1
        if tag in BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if self.inside and not self.skip:
            self.parts.append(re.sub(r"\s+", " ", data.replace("\xa0", " ")))


def tidy(text):
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in text.split("\n")]
    return "\n".join(line for line in lines if line)


def polish_lines(text):
    kept = "\n".join(line for line in text.split("\n") if set(line) & DIACRITICS)
    return kept if len(kept) >= 200 else ""


def pages(folder):
    for path in sorted(folder.rglob("*.html")):
        page = Page()
        page.feed(path.read_text(encoding="utf-8", errors="replace"))
        yield str(path.relative_to(folder)), tidy("".join(page.parts))


def manuals(folder):
    env = {
        **os.environ,
        "MANWIDTH": "10000",
        "LC_ALL": "C.UTF-8",
        "MAN_KEEP_FORMATTING": "",
        "GROFF_NO_SGR": "1",
    }
    for path in sorted(folder.rglob("*.gz")):
        if "/man/" not in str(path) or path.is_symlink():
            continue
        source = gzip.decompress(path.read_bytes())
        if source.lstrip().startswith(b".so "):
            continue
        args = ["groff", "-mandoc", "-Tutf8", "-Kutf8", "-rLL=10000n", "-rHY=0", "-P-c", "-P-b", "-P-o", "-P-u"]
        out = subprocess.run(args, input=source, capture_output=True, env=env).stdout
        yield str(path.relative_to(folder)), tidy(out.decode(errors="replace"))


if __name__ == "__main__":
    root = Path(sys.argv[1])
    with Path(sys.argv[2]).open("w") as out:
        for found in (pages(root), manuals(root)):
            for name, text in found:
                text = polish_lines(text) if "--polish-lines" in sys.argv[3:] else text
                if text:
                    out.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
