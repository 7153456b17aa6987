"""A bench as one self-contained page: what was measured, what it means, beside the study's figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from urllib.parse import quote

import altair as alt
import jinja2
import vl_convert
from markupsafe import Markup

from decoder.bench.alignment import Aligned
from decoder.bench.examples import Example
from decoder.bench.grouping import Bench
from decoder.bench.parts import Section
from decoder.bench.sections import sections
from decoder.bench.summary import divergences
from decoder.bench.table import difference_lines
from decoder.profile import Profile
from tokalign.files import write_text


def write_page(
    path: Path,
    bench: Bench,
    *,
    rounds: Sequence[Example] = (),
    aligned: Sequence[Aligned] = (),
    profile: Profile | None = None,
    polish: str | None = None,
) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    write_text(path, page_html(bench, sections(bench, rounds, aligned, profile, polish), path.parent))


def page_html(bench: Bench, parts: Sequence[Section], folder: Path = Path()) -> str:
    """The page's text, the same for the same bench; links are relative to ``folder``.

    All of it is escaped but this package's own script.
    """
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    environment.filters["relative"] = lambda to: quote(Path(os.path.relpath(to, folder)).as_posix())
    source = resources.files("decoder.bench").joinpath("report.html.j2").read_text(encoding="utf-8")
    identity = bench.identity
    page = {
        "title": f"Drafts of other vocabularies for {Path(identity.target.name).name}",
        "lede": _lede(bench),
        "drafts": _drafts(bench),
        "warnings": _warnings(bench),
        "sections": parts,
        "footer": "Made by decoder report. "
        f"Prompts {_short(identity.prompts)}, target {_short(identity.target.files)}; intervals are 95 %, by "
        "bootstrap over prompts.",
    }
    return environment.from_string(source).render(page=page, bundle=bundle())


def _lede(bench: Bench) -> str:
    groups = list(dict.fromkeys(r["group"] for r in bench.rows))
    i = bench.identity
    said = [
        f"{i.count} prompts ({', '.join(groups)})",
        f"{i.max_tokens} tokens each" if i.max_tokens else None,
        {True: "float32", False: "the models’ own precision", None: None}[i.float32],
        f"on {i.device}" if i.device else None,
        f"mlx {i.mlx}" if i.mlx else None,
        i.note,
    ]
    return "Measured on " + ", ".join(s for s in said if s) + "."


def _drafts(bench: Bench) -> str:
    """What the drafts are, where more is known than a folder."""
    known = {d: m.name for d, m in bench.identity.drafts.items() if d in bench.drafts and m.name != d}
    said = [f"{d}: {name}" for d, name in known.items() if not name.startswith(("/", ".", "~"))]
    return f"Drafts: {'; '.join(said)}." if said else ""


def _warnings(bench: Bench) -> list[str]:
    found = []
    ours = [r for r in bench.rows if r["translation"] != "transformers"]
    different = divergences(ours)
    if different:
        said = f"{len(different):,} of {len(ours):,} runs did not give the output of plain decoding"
        found.append(f"{said} ({'; '.join(difference_lines(different, 3))}).")
    if bench.identity.prompts is None:
        found.append("The rows came without a description of what they rest on.")
    if bench.identity.device == "cpu":
        found.append("Speed on a processor says nothing about a GPU; tokens per pass and acceptance do.")
    return found


def _short(digest: str | None) -> str:
    return "unknown" if digest is None else digest[:12]


@lru_cache(maxsize=1)
def bundle() -> Markup:
    """Vega, Vega-Lite and Vega-Embed in one script, which cannot end its element."""
    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    version = wanted if wanted in vl_convert.get_vegalite_versions() else None
    script = vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]  # snippet is optional
    return Markup(script.replace("</script", "<\\/script").replace("<!--", "<\\!--"))
