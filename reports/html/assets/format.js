"use strict";
// Numbers, units and the ticks of axes. Values are in SI units; an axis brings the multiples of its unit.
const minus = (s) => s.replace("-", "−");

// multipleOf is the multiple of the unit in which v reads best, and its name.
function multipleOf(v, axis) {
  const all = axis.multiples, one = all.find(([by]) => by === 1);
  return v ? all.find(([by]) => Math.abs(v) >= by * (1 - 1e-9)) || all[all.length - 1] : one;
}

// plain prints v without an exponent where that is short.
function plain(v, digits) {
  if (v !== 0 && (Math.abs(v) >= 1e6 || Math.abs(v) < 1e-4)) return minus(Number(v.toPrecision(digits)).toExponential());
  return minus(Number(v.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 12 }));
}

// show prints v with its unit: "4.13 ms", "64 KiB", "1,234".
function show(v, axis, digits = 4) {
  if (v === null || v === undefined) return "–";
  if (axis.unit === "%") return plain(v, digits) + " %";
  if (axis.unit === "time") return new Date(v * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC";
  const [by, unit] = multipleOf(v, axis);
  return plain(v / by, digits) + (unit ? " " + unit : "");
}

// logTicks returns readable ticks of a log axis from lo to hi, about room of them: decades, or 1-2-5, or powers of two for bytes.
function logTicks(lo, hi, axis, room) {
  const out = [];
  if (axis.unit === "B") {
    const from = Math.ceil(Math.log2(lo) - 1e-9), to = Math.floor(Math.log2(hi) + 1e-9);
    const step = [1, 2, 4, 5, 10, 20].find((s) => (to - from) / s + 1 <= room) || 20;
    for (let e = Math.ceil(from / step) * step; e <= to; e += step) out.push(2 ** e);
  } else {
    const from = Math.floor(Math.log10(lo)), to = Math.ceil(Math.log10(hi));
    for (const leads of [[1, 2, 5], [1, 3], [1]]) {
      out.length = 0;
      for (let e = from; e <= to; e++) for (const l of leads) {
        const v = Number((l * 10 ** e).toPrecision(3));
        if (v >= lo * (1 - 1e-9) && v <= hi * (1 + 1e-9)) out.push(v);
      }
      if (out.length <= room) break;
    }
    const every = Math.ceil(out.length / room);
    if (every > 1) return out.filter((v) => Math.round(Math.log10(v)) % every === 0);
  }
  return out.length >= 2 ? out : linearTicks(lo, hi, axis, room);
}

function linearTicks(lo, hi, axis, room) {
  const raw = (hi - lo) / Math.max(room, 2);
  if (!(raw > 0)) return [lo];
  let step;
  if (axis.unit === "B" && raw >= 1) step = 2 ** Math.ceil(Math.log2(raw) - 1e-9);
  else {
    const decade = 10 ** Math.floor(Math.log10(raw));
    step = decade * [1, 2, 5, 10].find((m) => m * decade >= raw * (1 - 1e-9));
    if (axis.whole) step = Math.max(1, step);
  }
  const out = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

// ticks returns values and labels for an axis over [lo, hi] with room pixels of which each label takes some.
function ticks(axis, lo, hi, room) {
  const vals = axis.log ? logTicks(lo, hi, axis, room) : linearTicks(lo, hi, axis, room);
  if (axis.log || axis.unit === "B" || axis.unit === "%") return [vals, vals.map((v) => show(v, axis))];
  const [by, unit] = multipleOf(Math.max(Math.abs(lo), Math.abs(hi)), axis); // one prefix on a linear axis
  return [vals, vals.map((v) => plain(v / by, 6) + (unit && v !== 0 ? " " + unit : ""))];
}
