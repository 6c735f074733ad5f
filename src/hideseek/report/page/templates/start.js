// Where the page begins.

const data = JSON.parse(byId("page-data").textContent);
const whatIf = data.model ? new WhatIf(data) : null;

function open(row) {
  if (!whatIf) return;
  whatIf.load(row);
  byId("what-if").scrollIntoView();
  byId("what-if-title").focus({ preventScroll: true });
}

const path = data.path ? new Path(data) : null;
const table = new RowTable(data, whatIf && open, path);
const heatmap = new Heatmap(data, open, path);
path?.listeners.push(
  () => table.show(table.page),
  () => heatmap.paint(),
  () => whatIf?.setPrice(path.prices[path.level]),
);
