// A copy of the pages has no server that filters: rows that the address does not ask for are hidden here.
"use strict";
const form = document.querySelector(".filters");
const asked = new URLSearchParams(location.search);
const ranks = Array.from(form.elements.severity.options, (it) => it.value);

function chosen(name) {
  const value = asked.get(name) ?? "";
  form.elements[name].value = value;
  return value;
}

const [variant, severity, upstream] = ["variant", "severity", "upstream"].map(chosen);
const rows = Array.from(document.querySelectorAll(".board > tbody > tr"));
for (const row of rows) {
  const { variants, worst, upstreams } = row.dataset;
  row.hidden = !(
    (!variant || JSON.parse(variants).includes(variant)) &&
    ranks.indexOf(worst) >= ranks.indexOf(severity) &&
    (!upstream || JSON.parse(upstreams).includes(upstream))
  );
}
const count = document.querySelector(".board > caption > .count");
if (count) count.textContent = rows.filter((it) => !it.hidden).length;
