// What Plotly is told of a figure.
const symbols = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "star", "x"];
const dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

// Plotly reads a little HTML in texts: names must not be taken for it.
const text = (s) => String(s).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// theme reads the colours off the style sheet, so that figures follow it.
function theme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue("--" + name).trim();
  const series = (prefix, n) => Array.from({ length: n }, (_, i) => get(prefix + i));
  return { ink: get("ink"), muted: get("muted"), grid: get("grid"), rule: get("rule"), card: get("card"), flag: get("flag"),
    mark: get("mark"), accent: get("accent"), colours: series("c", 8), heat: series("h", 5), font: get("sans") };
}

function fade(colour, alpha) {
  const n = parseInt(colour.slice(1), 16);
  return `rgba(${n >> 16},${(n >> 8) & 255},${n & 255},${alpha})`;
}

// span is the range that an axis has to show, with a margin; and zero, where the least is below that share of the greatest.
function span(values, axis, near) {
  const all = values.filter((v) => v !== null && v !== undefined && (!axis.log || v > 0));
  if (!all.length) return axis.log ? [1, 10] : [0, 1];
  let lo = all.reduce((a, b) => Math.min(a, b)), hi = all.reduce((a, b) => Math.max(a, b));
  if (lo === hi) { // a single value: what is half of it and twice of it, or the whole numbers beside it
    if (axis.whole) return [lo - 1, hi + 1];
    if (axis.log) return [lo / 2, hi * 2];
    return lo ? [lo - Math.abs(lo) / 2, hi + Math.abs(hi) / 2] : [-1, 1];
  }
  if (axis.log) {
    const pad = Math.max((hi / lo) ** 0.04, 1.05);
    return [lo / pad, hi * pad];
  }
  if (lo >= 0 && lo < near * hi) lo = 0;
  const pad = (hi - lo || Math.abs(hi) || 1) * 0.05;
  return [lo === 0 ? 0 : lo - pad, hi + pad];
}

// spanY holds all values and the intervals that are not far wider than these.
function spanY(figure) {
  const of = (key) => figure.traces.flatMap((t) => t[key] || []);
  const y = of("y").concat(figure.traces.flatMap((t) => (t.kind === "band" ? t.lo.concat(t.hi) : [])));
  const [lo, hi] = span(y, figure.y, 0.4);
  const margin = figure.y.log ? (v) => v >= lo / 3 && v <= hi * 3 : (v) => v >= lo - 3 * (hi - lo) && v <= hi + 3 * (hi - lo);
  return span(y.concat(of("lo").concat(of("hi")).filter((v) => v !== null && margin(v))), figure.y, 0.4);
}

function hover(t, i, figure) {
  let s = `<b>${text(t.name)}</b><br>${text(figure.x.name)} ${show(t.x[i], figure.x)}<br>${show(t.y[i], figure.y)}`;
  if (t.lo && t.hi && t.lo[i] !== null) s += `<br>95% ${show(t.lo[i], figure.y)} … ${show(t.hi[i], figure.y)}`;
  if (t.text && t.text[i]) s += "<br>" + text(t.text[i]);
  return s;
}

// place is a value where Plotly wants it: dates as milliseconds.
const place = (v, axis) => (axis.unit === "time" && v !== null ? v * 1000 : v);

function band(t, figure, common, colour, bottom) {
  // Gaps part a band into polygons.
  const x = [], y = [];
  const flush = (part) => {
    if (part.length) {
      x.push(...part.map((i) => place(t.x[i], figure.x)), ...part.slice().reverse().map((i) => place(t.x[i], figure.x)), null);
      y.push(...part.map((i) => t.hi[i]), ...part.slice().reverse().map((i) => (figure.y.log ? Math.max(t.lo[i], bottom) : t.lo[i])), null);
    }
    return [];
  };
  let part = [];
  t.x.forEach((_, i) => { part = t.lo[i] === null || t.hi[i] === null ? flush(part) : part.concat(i); });
  flush(part);
  return { ...common, x, y, mode: "lines", line: { width: 0 }, fill: "toself", fillcolor: fade(colour, 0.18), hoverinfo: "skip" };
}

// ofLine tells the interval of a line, which needs no entry of its own in the legend, from other bands.
const ofLine = (band, lines) => lines.some((name) => name && band.name.startsWith(name));

// entered lists the traces that get an entry in the legend: not the interval of a line, nor the line through points of its
// own colour that is named after them.
function entered(figure) {
  const lines = figure.traces.filter((t) => t.kind === "line").map((t) => t.name);
  const own = (line) => figure.traces.some((t) => t.kind === "points" && t.group === line.group && t.name && line.name.startsWith(t.name + ", "));
  return figure.traces.filter((t) => t.name && !(t.kind === "band" && ofLine(t, lines)) && !(t.kind === "line" && own(t)));
}

// tracesOf turns the traces of a figure, or of the panel under it, into Plotly's. Those in legend get an entry in it.
function tracesOf(figure, th, yaxis, range, legend) {
  const before = []; // lines of one colour over the same range differ in their dashes
  return figure.traces.map((t) => {
    const colour = th.colours[t.group % th.colours.length];
    const common = { type: "scatter", name: text(t.name), xaxis: "x", yaxis, legendgroup: "g" + t.group, showlegend: legend.includes(t) };
    if (t.kind === "band") return band(t, figure, common, colour, range[0]);
    const out = { ...common, x: t.x.map((v) => place(v, figure.x)), y: t.y, text: t.x.map((_, i) => hover(t, i, figure)),
      hoverinfo: "text", connectgaps: false };
    if (t.kind === "line") {
      const beside = (l) => l.group === t.group && l.x[0] < t.x[t.x.length - 1] && t.x[0] < l.x[l.x.length - 1];
      const n = before.filter(beside).length;
      before.push(t);
      return { ...out, mode: "lines", line: { color: colour, width: 2, dash: dashes[n % dashes.length] } };
    }
    out.mode = "markers";
    out.cliponaxis = false;
    out.marker = { color: colour, size: 6.5, symbol: symbols[t.group % symbols.length], line: { width: 0.8, color: th.card } };
    if (t.lo && t.hi) {
      const low = (i) => (figure.y.log ? Math.max(t.lo[i], range[0]) : t.lo[i]);
      const away = (f) => t.y.map((v, i) => (v === null || t.lo[i] === null || t.hi[i] === null ? 0 : Math.max(f(v, i), 0)));
      out.error_y = { type: "data", symmetric: false, array: away((v, i) => t.hi[i] - v), arrayminus: away((v, i) => v - low(i)),
        color: colour, thickness: 1.3, width: 3 };
    }
    return out;
  });
}

// marksOf draws vertical lines with their labels, each lower than the one before where they would touch.
function marksOf(figure, th, range, width, top) {
  const shapes = [], annotations = [];
  const share = (x) => figure.x.log ? Math.log(x / range[0]) / Math.log(range[1] / range[0]) : (x - range[0]) / (range[1] - range[0]);
  const ends = [];
  for (const m of (figure.marks || []).filter((m) => !figure.x.log || m.x > 0).sort((a, b) => a.x - b.x)) {
    const at = share(m.x), line = { type: "line", yref: "paper", y0: 0, y1: 1, line: { color: th.mark, width: 1.3, dash: "5px,3px" } };
    if (m.lo < m.hi && (!figure.x.log || m.lo > 0)) {
      shapes.push({ type: "rect", yref: "paper", y0: 0, y1: 1, x0: place(m.lo, figure.x), x1: place(m.hi, figure.x), line: { width: 0 },
        fillcolor: fade(th.mark, 0.13), layer: "below" });
    }
    shapes.push({ ...line, x0: place(m.x, figure.x), x1: place(m.x, figure.x), layer: "below" });
    const long = Math.min(m.label.length * 6.3 + 10, width * 0.6) / width, left = at > 0.55;
    const from = left ? at - long : at, to = left ? at : at + long;
    let row = 0;
    while (ends[row] !== undefined && ends[row].some(([a, b]) => from < b && to > a)) row++;
    (ends[row] ||= []).push([from, to]);
    annotations.push({ x: figure.x.log ? Math.log10(m.x) : place(m.x, figure.x), y: top, yref: "paper", yanchor: "top", yshift: -2 - 17 * row,
      xanchor: left ? "right" : "left", xshift: left ? -4 : 4, text: text(m.label), showarrow: false, align: left ? "right" : "left",
      font: { size: 11.5, color: th.ink }, bgcolor: fade(th.card, 0.85), borderpad: 1 });
  }
  return { shapes, annotations };
}

// axisLayout is an axis with ticks for its range; room is in pixels, label what one tick takes of it.
function axisLayout(axis, range, room, label, th) {
  const title = axis.name ? { text: text(axis.name), font: { size: 12.5, color: th.muted }, standoff: 10 } : undefined;
  const common = { title, gridcolor: th.grid, linecolor: th.rule, zeroline: false, showline: true, tickfont: { size: 11.5, color: th.muted },
    ticks: "outside", ticklen: 4, tickcolor: th.rule, automargin: true, tickangle: 0 };
  if (axis.unit === "time") return { ...common, type: "date", range: range.map((v) => place(v, axis)), nticks: Math.floor(room / 90) };
  const [tickvals, ticktext] = ticks(axis, range[0], range[1], Math.max(Math.floor(room / label), 2));
  return { ...common, type: axis.log ? "log" : "linear", range: axis.log ? range.map(Math.log10) : range, tickmode: "array", tickvals, ticktext };
}

// plotOf lays out a plot; a small one has no legend.
function plotOf(figure, th, width, base, small) {
  const all = figure.traces.concat(figure.below ? figure.below.traces : []);
  const marks = (figure.marks || []).flatMap((m) => [m.x]);
  const points = all.filter((t) => t.kind === "points"); // lines and bands lie between them, too
  figure.x.whole = figure.x.unit === "" && points.length > 0 && points.every((t) => t.x.every(Number.isInteger)); // numbers of hosts, pairs, …
  const rx = span(all.flatMap((t) => t.x).concat(marks), figure.x, 0.1), ry = spanY(figure);
  if (!figure.x.log && rx[0] === 0) rx[0] = -0.02 * rx[1];
  const split = figure.below ? 0.3 : 0;
  const named = entered(figure);
  const legend = named.length > 1 && !small;
  const entry = named.reduce((n, t) => Math.max(n, t.name.length), 0) * 6.6 + 48;
  const height = base + (legend ? 19 * Math.ceil(named.length / Math.max(Math.floor((width - 80) / entry), 1)) : 0);
  const { shapes, annotations } = marksOf(figure, th, rx, width - 80, 1);
  const data = tracesOf(figure, th, "y", ry, legend ? named : []);
  const inner = height - 90;
  const layout = { width, height, margin: { l: 12, r: 14, t: 4, b: 12 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: th.font, size: 12.5, color: th.ink }, showlegend: legend, hovermode: "closest", shapes, annotations,
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    hoverlabel: { bgcolor: th.card, bordercolor: th.rule, font: { color: th.ink, size: 12.5, family: th.font }, align: "left" },
    legend: { orientation: "h", x: 0, y: 1.01, yanchor: "bottom", font: { size: 12.5, color: th.ink }, traceorder: "normal", itemsizing: "constant" },
    xaxis: { ...axisLayout(figure.x, rx, width - 80, 62, th), anchor: figure.below ? "y2" : "y" },
    yaxis: { ...axisLayout(figure.y, ry, inner * (1 - split), 34, th), domain: [split, 1] } };
  if (figure.below) {
    const below = { ...figure.below, x: figure.x };
    const r2 = spanY(below);
    layout.yaxis2 = { ...axisLayout(below.y, r2, inner * (split - 0.06), 26, th), domain: [0, split - 0.06], zeroline: true,
      zerolinecolor: th.muted, zerolinewidth: 1 };
    data.push(...tracesOf(below, th, "y2", r2, []));
  }
  return { data, layout };
}

// heatOf draws a matrix: the worse, the more it stands out. Differences below 5% of the middle are not blown up.
function heatOf(figure, th, width) {
  const h = figure.heat, rows = h.rows.length, cols = h.cols.length, unit = h.values;
  const known = h.z.flat().filter((v) => v !== null).sort((a, b) => a - b);
  const middle = known.length ? known[known.length >> 1] : 1;
  const lo = known.length ? Math.min(known[0], middle * 0.95) : 0, hi = known.length ? Math.max(known[known.length - 1], middle * 1.05) : 1;
  const narrow = width < 560, size = cols > 40 ? 9 : 11;
  const longest = (names) => names.reduce((n, s) => Math.max(n, Math.min(s.length, 18)), 1);
  const left = Math.ceil(longest(h.rows) * size * 0.62) + 34, right = narrow ? 10 : 112;
  const across = Math.max(Math.min(width - left - right, cols * 64, document.documentElement.classList.contains("printing") ? 400 : 660), 60), down = across * rows / cols;
  const slanted = longest(h.cols) * size * 0.62 + 6 > across / cols;
  const top = 8, bottom = (slanted ? Math.ceil(longest(h.cols) * size * 0.62) + 14 : 22) + 24 + (narrow ? 62 : 0);
  const thin = (n) => Math.ceil(n * (size + 3) / across);
  const names = (all, n) => ({ tickmode: "array", tickvals: all.map((_, i) => i).filter((i) => i % thin(n) === 0),
    ticktext: all.filter((_, i) => i % thin(n) === 0).map((s) => text(s.length > 18 ? s.slice(0, 17) + "…" : s)) });
  const axis = { tickfont: { size, color: th.muted }, showgrid: false, zeroline: false, showline: false, ticks: "", fixedrange: false };
  const title = (t) => ({ text: t, font: { size: 12, color: th.muted }, standoff: 6 });
  const why = new Map((h.flags || []).map((f) => [f.row * cols + f.col, f.why]));
  const hovers = h.z.map((row, r) => row.map((v, c) => `<b>${text(h.rows[r])} → ${text(h.cols[c])}</b><br>${show(v, unit)}` +
    (why.has(r * cols + c) ? "<br>" + text(why.get(r * cols + c)) : "")));
  const [tickvals, ticktext] = ticks(unit, lo, hi, narrow ? 3 : 6);
  const ramp = th.heat.map((c, i) => [h.high ? 1 - i / 4 : i / 4, c]).sort((a, b) => a[0] - b[0]);
  const bar = { tickvals, ticktext, outlinewidth: 1, outlinecolor: th.rule, thickness: 12, tickfont: { size: 11.5, color: th.muted }, ticks: "",
    ...(narrow ? { orientation: "h", y: 0, yanchor: "top", yref: "container", x: 0.5, len: 0.9, y: 0.11 } : { len: Math.min(1, 300 / down), x: 1.02, xpad: 0, y: 1, yanchor: "top" }) };
  const [by] = multipleOf(middle, unit);
  const cells = across / cols >= 44 ? h.z.map((row) => row.map((v) => (v === null ? "" : (v / by).toPrecision(3)))) : null;
  const data = [{ type: "heatmap", z: h.z, zmin: lo, zmax: hi, colorscale: ramp, colorbar: bar, hovertext: hovers, hoverinfo: "text",
    xgap: cols > 40 ? 0.5 : 1.5, ygap: cols > 40 ? 0.5 : 1.5, hoverongaps: false,
    ...(cells ? { text: cells, texttemplate: "%{text}", textfont: { size: 11.5 } } : {}) }];
  const path = [...why.keys()].map((k) => [Math.floor(k / cols), k % cols])
    .map(([r, c]) => `M${c - 0.5},${r - 0.5}H${c + 0.5}V${r + 0.5}H${c - 0.5}Z`).join("");
  const shapes = path ? [{ type: "path", path, line: { color: th.flag, width: cols > 40 ? 1 : 2 }, fillcolor: "rgba(0,0,0,0)" }] : [];
  const layout = { width: left + across + right, height: top + down + bottom, margin: { l: left, r: right, t: top, b: bottom }, shapes,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: th.font, size: 12.5, color: th.ink }, dragmode: false,
    hoverlabel: { bgcolor: th.card, bordercolor: th.rule, font: { color: th.ink, size: 12.5, family: th.font }, align: "left" },
    xaxis: { ...axis, ...names(h.cols, cols), title: title("to"), range: [-0.5, cols - 0.5], tickangle: slanted ? -90 : 0 },
    yaxis: { ...axis, ...names(h.rows, rows), title: title("from"), range: [rows - 0.5, -0.5] } };
  return { data, layout };
}
