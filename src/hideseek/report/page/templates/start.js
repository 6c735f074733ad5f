// Where the page begins.

const data = JSON.parse(byId("page-data").textContent);
const whatIf = data.model ? new WhatIf(data) : null;

function open(row) {
  if (!whatIf) return;
  whatIf.load(row);
  byId("what-if").scrollIntoView();
  byId("what-if-title").focus({ preventScroll: true });
}

const path = new Path(data);
const table = new RowTable(data, whatIf && open, path);
const heatmap = new Heatmap(data, open, path);
const comparison = new Comparison(data, path);
const marked = new Protected(data, path);
path.listeners.push(
  () => table.show(table.page),
  () => heatmap.paint(),
  () => comparison.show(),
  () => marked.show(),
  () => whatIf?.setPrice(path.prices[path.level]),
);
new State([path.state(), ...table.states(), ...comparison.states(), marked.state(), ...(whatIf?.states() ?? [])]);
