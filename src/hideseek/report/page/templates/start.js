// Where the page begins.

const data = JSON.parse(byId("page-data").textContent);
const whatIf = data.model ? new WhatIf(data) : null;

function open(row) {
  if (!whatIf) return;
  whatIf.load(row);
  byId("what-if").scrollIntoView();
  byId("what-if-title").focus({ preventScroll: true });
}

new RowTable(data, whatIf && open);
new Heatmap(data, open);
