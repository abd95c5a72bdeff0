// Values are read off a figure with the pointer or the arrow keys. Without this script they are in the titles of its
// points, and of many cells in the text under them.
"use strict";
for (const svg of document.querySelectorAll("figure:not(.small) svg")) {
  const figure = svg.closest("figure"), box = svg.parentElement, tip = document.createElement("output");
  const ring = document.createElementNS(svg.namespaceURI, "circle");
  let points, columns, at = 0;
  ring.setAttribute("class", "ring");
  ring.setAttribute("r", 5);
  tip.className = "tip";

  // read lists the points once. It takes their titles away, or the browser would show these too.
  function read() {
    points = [...svg.querySelectorAll(".values title")].map((title) => {
      const { x, y, width, height } = title.parentElement.getBBox();
      return { x: x + width / 2, y: y + height / 2, text: title.textContent };
    });
    const cells = svg.querySelector(".cells");
    if (cells) { // too many for titles: their values are under the figure
      const { x, y, width, height } = cells.getBBox();
      const [[unit, ...names], ...rows] = figure.querySelector("pre").textContent.split("\n").map((row) => row.split("\t"));
      columns = names.length;
      points = rows.flatMap(([from, ...values], r) => values.map((value, c) => ({ x: x + width * (c + 0.5) / columns,
        y: y + height * (r + 0.5) / rows.length, text: `${from} → ${names[c]}: ${value === "–" ? "not measured" : value + " " + unit}` })));
    }
    svg.setAttribute("aria-label", svg.querySelector("title").textContent);
    svg.querySelectorAll("title").forEach((title) => title.remove());
    box.append(tip);
  }

  function show(i) {
    if (!points[i]) return;
    at = i;
    const { x, y, text } = points[i], place = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()), within = box.getBoundingClientRect();
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    svg.append(ring);
    tip.textContent = text;
    tip.hidden = false;
    const left = place.x - within.left - tip.offsetWidth / 2;
    tip.style.left = Math.max(0, Math.min(left, within.width - tip.offsetWidth)) + "px";
    tip.style.top = place.y - within.top + 12 + "px";
  }

  function hide() {
    tip.hidden = true;
    ring.remove();
  }

  svg.tabIndex = 0;
  svg.addEventListener("pointerenter", () => points || read());
  svg.addEventListener("pointermove", (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const far = points.map((p) => Math.hypot(p.x - x, p.y - y));
    show(far.reduce((best, d, i) => d < far[best] ? i : best, 0));
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("focus", () => { points || read(); if (svg.matches(":focus-visible")) show(at); });
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -(columns || 1), ArrowDown: columns || 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(at + step);
  });
}

// What is folded is printed, but for the tables of figures.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open], .numbers)")];
  folded.forEach((d) => { d.open = true; });
});
addEventListener("afterprint", () => folded.forEach((d) => { d.open = false; }));
