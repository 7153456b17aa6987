"""The report: one HTML file that needs nothing but itself."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
from functools import lru_cache
from importlib import metadata, resources
from pathlib import Path

import altair as alt
import jinja2
import vl_convert
from markupsafe import Markup

from tokalign.charts import Spec
from tokalign.files import cache_folder, write_text
from tokalign.page import page_of
from tokalign.result import Result


def write_report(result: Result, path: Path) -> None:
    """Write the report, whole or not at all. Raises OSError."""
    write_text(path, report_html(result))


def report_html(result: Result) -> str:
    """The page as text: the same for the same result.

    Whatever comes from the result is escaped; only the style sheet and the script of this package go in as
    they are. The chart library is embedded once for all charts.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tokalign"),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["packed"] = packed
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment.get_template("report.html.j2").render(
        page=page_of(result), css=_asset("report.css"), script=_asset("report.js"), bundle=bundle()
    )


def packed(spec: Spec) -> Spec:
    """A specification whose rows are kept by column; the page's script turns them into rows again."""
    rows = spec["data"]["values"]
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    return spec | {"data": {"name": spec["data"]["name"], "columns": columns}}


def _asset(name: str) -> Markup:
    return Markup(resources.files("tokalign").joinpath("templates", name).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, as base64 of gzip: 0.4 MB, not 0.9.

    Making it takes seconds, so it is kept in the user's cache folder by the versions that it is made of.
    """
    kept = cache_folder() / f"charts-{metadata.version('vl-convert-python')}-{alt.SCHEMA_VERSION}.txt"
    with contextlib.suppress(OSError, ValueError):
        digest, _, text = kept.read_text(encoding="ascii").partition("\n")
        if hashlib.sha256(text.encode()).hexdigest() == digest:
            return text
    text = _made_bundle()
    with contextlib.suppress(OSError):
        write_text(kept, f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
    return text


def _made_bundle() -> str:
    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    version = wanted if wanted in vl_convert.get_vegalite_versions() else None
    script = vl_convert.javascript_bundle(vl_version=version)  # type: ignore[call-arg]  # snippet is optional
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()
