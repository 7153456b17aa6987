(function () {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const config = () => {
    const text = style("--text"), muted = style("--muted"), line = style("--line");
    return {
      background: "transparent", font: getComputedStyle(document.body).fontFamily,
      autosize: { type: "fit-x", contains: "padding" },
      view: { stroke: null },
      range: { category: [1, 2, 3, 4, 5].map((i) => style("--c" + i)) },
      axis: {
        labelColor: muted, titleColor: text, domainColor: muted, tickColor: muted, gridColor: line,
        labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, labelLimit: 150
      },
      legend: { labelColor: text, labelFontSize: 12, symbolSize: 70, symbolOpacity: 1, rowPadding: 3 },
      point: { opacity: 1 }
    };
  };
  const rows = (columns) => {
    const names = Object.keys(columns);
    return (columns[names[0]] || []).map((_, i) => Object.fromEntries(names.map((n) => [n, columns[n][i]])));
  };
  const draw = () => document.querySelectorAll("[data-spec]").forEach((box) => {
    const spec = JSON.parse(document.getElementById(box.dataset.spec).textContent);
    spec.data = { name: spec.data.name, values: rows(spec.data.columns) };
    vegaEmbed(box, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, config: config(),
      tooltip: { theme: dark.matches ? "dark" : "light" }
    }).catch((error) => { box.textContent = "This chart could not be drawn: " + error.message; });
  });
  const load = async () => {
    const packed = atob(document.getElementById("bundle").textContent);
    const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  };
  root.classList.add("js");
  load().then(draw).then(() => dark.addEventListener("change", draw)).catch((error) => {
    // A browser too old to unpack the chart library: the tables have every figure.
    root.classList.remove("js");
    document.querySelectorAll("figure details").forEach((table) => { table.open = true; });
    console.warn("charts are not drawn: " + error.message);
  });
})();
