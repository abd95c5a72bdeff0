// The page: figures are drawn when a reader comes near them, the others while the browser has nothing else to do, all of them before
// printing, and again when colours or widths change.
(() => {
  const config = { displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: false, locale: "en" };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const figures = new Map(); // element → its data, once it is drawn
  let paper = 0; // width of a large figure while printing

  // plotly runs the Plotly of the page when it is first needed: the first screen does not wait for it.
  function plotly() {
    if (!window.Plotly) {
      const run = document.createElement("script");
      run.textContent = document.getElementById("plotly").textContent;
      document.head.append(run);
      window.Plotly ||= window.moduleName;
    }
    return window.Plotly;
  }

  const dataOf = (el) => JSON.parse(el.querySelector('script[type="application/json"]').textContent);

  function draw(el) {
    const box = el.querySelector(".plot");
    let figure = figures.get(el);
    if (!figure) figures.set(el, figure = dataOf(el));
    figure.traces ||= [];
    if (figure.below) figure.below.traces ||= [];
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", el.querySelector("h3").textContent);
    const small = el.classList.contains("small");
    const th = theme(), width = !small && paper || box.clientWidth;
    figure.width = width;
    box.style.height = "";
    const { data, layout } = figure.heat ? heatOf(figure, th, width) : plotOf(figure, th, width, box.clientHeight, small);
    box.style.height = layout.height + "px";
    if (figure.heat) plotly().purge(box); // react keeps the cells of a heat map where they were
    plotly().react(box, data, layout, config);
    if (!el.classList.contains("drawn")) {
      el.classList.add("drawn");
      if (!figure.heat) box.on("plotly_relayout", (change) => retick(box, figure, change));
      if (!small) tools(el, box, figure);
    }
  }

  // retick gives a zoomed axis ticks for what it now shows.
  function retick(box, figure, change) {
    if (!Object.keys(change).some((k) => /^[xy]axis2?\.(range|autorange)/.test(k))) return;
    const update = {}, full = box._fullLayout;
    const axes = { xaxis: [figure.x, 62], yaxis: [figure.y, 34] };
    if (figure.below) axes.yaxis2 = [figure.below.y, 26];
    for (const [name, [axis, label]] of Object.entries(axes)) {
      if (axis.unit === "time") continue;
      const [lo, hi] = axis.log ? full[name].range.map((v) => 10 ** v) : full[name].range;
      const [vals, labels] = ticks(axis, lo, hi, Math.max(Math.floor(full[name]._length / label), 2));
      update[name + ".tickvals"] = vals;
      update[name + ".ticktext"] = labels;
    }
    plotly().relayout(box, update);
  }

  // tools adds the numbers behind a figure, and saving it.
  function tools(el, box, figure) {
    const bar = document.createElement("div"), numbers = document.createElement("details"), save = document.createElement("button");
    bar.className = "tools";
    numbers.append(Object.assign(document.createElement("summary"), { textContent: "Numbers" }));
    numbers.addEventListener("toggle", () => { if (numbers.open && numbers.children.length === 1) numbers.append(table(figure)); });
    Object.assign(save, { type: "button", textContent: "Save as SVG" });
    save.addEventListener("click", () => plotly().downloadImage(box, { format: "svg", filename: figure.id,
      width: box._fullLayout.width, height: box._fullLayout.height }));
    bar.append(numbers, save);
    const lines = figure.traces.filter((t) => t.kind === "line"), shown = entered(figure), hints = [];
    if (lines.some((t) => !shown.includes(t) && !t.name.endsWith(", joined"))) hints.push("Lines through points: fitted.");
    if (figure.traces.some((t) => t.kind === "band" && ofLine(t, lines.map((l) => l.name)))) hints.push("Shaded along a line: its 95% interval.");
    if (hints.length) bar.append(Object.assign(document.createElement("span"), { textContent: hints.join(" "), className: "hint" }));
    el.append(bar);
  }

  function table(figure) {
    const box = document.createElement("div"), out = document.createElement("table");
    box.className = "scroll";
    box.tabIndex = 0;
    const row = (cells, kind, from = 1) => {
      const tr = out.insertRow();
      cells.forEach((c, i) => {
        const cell = document.createElement(kind);
        cell.textContent = c;
        if (i >= from) cell.className = "number";
        tr.append(cell);
      });
    };
    if (figure.heat) {
      const h = figure.heat;
      row(["from \\ to", ...h.cols], "th");
      h.rows.forEach((name, r) => row([name, ...h.z[r].map((v) => show(v, h.values))], "td"));
    } else {
      row(["series", figure.x.name, figure.y.name || "value", "95% from", "to"], "th");
      for (const [f, part] of [[figure, ""], [figure.below, ", " + (figure.below ? figure.below.y.name : "")]]) {
        if (f) f.traces.forEach((t) => t.x.forEach((x, i) => row([t.name + part, show(x, figure.x, 7), t.y && t.y.length ? show(t.y[i], f.y, 6) : "",
          t.lo ? show(t.lo[i], f.y, 6) : "", t.hi ? show(t.hi[i], f.y, 6) : ""], "td")));
      }
    }
    box.append(out);
    return box;
  }

  const redraw = () => figures.forEach((_, el) => draw(el));
  const drawAll = () => document.querySelectorAll("figure").forEach((el) => { if (!el.classList.contains("drawn")) draw(el); });

  function start() {
    root.classList.add("js");
    const all = document.querySelectorAll("figure");
    // With a bound: a page that is captured by a program may never be idle, nor shown.
    const idle = (f) => window.requestIdleCallback ? requestIdleCallback(f, { timeout: 200 }) : setTimeout(f, 100);
    const nextIdle = () => {
      const el = [...all].find((el) => !figures.has(el) && el.querySelector(".plot").clientWidth);
      if (el) {
        draw(el);
        idle(nextIdle);
      }
    };
    const near = new IntersectionObserver((entries) => entries.forEach((e) => {
      if (!e.isIntersecting) return;
      near.unobserve(e.target);
      if (!figures.has(e.target)) draw(e.target);
    }), { rootMargin: "500px 0px" });
    const resized = new ResizeObserver((entries) => entries.forEach((e) => {
      const el = e.target.parentElement, figure = figures.get(el);
      if (figure && !paper && e.target.clientWidth && e.target.clientWidth !== figure.width) draw(el);
    }));
    all.forEach((el) => {
      near.observe(el);
      resized.observe(el.querySelector(".plot"));
    });
    dark.addEventListener("change", redraw);
    let folded = [];
    addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details:not([open])")].filter((d) => !d.closest(".tools"));
      folded.forEach((d) => { d.open = true; });
      root.classList.add("printing");
      paper = 640;
      redraw();
      drawAll();
    });
    addEventListener("afterprint", () => {
      folded.forEach((d) => { d.open = false; });
      root.classList.remove("printing");
      paper = 0;
      redraw();
    });
    idle(nextIdle);
  }
  start();
})();
