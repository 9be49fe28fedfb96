"use strict";

const WIDTH = 132, HEIGHT = 36, STEP_X = 158, STEP_Y = 44;
const byId = (id) => document.getElementById(id);
const plans = JSON.parse(byId("data").textContent).map(prepare);

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  Object.assign(made, attributes);
  made.append(...children);
  return made;
}

/** Names, layers, who reads whom, and a key by which nodes of two plans are paired. */
function prepare(record) {
  const { nodes, tensors, storages } = record.graph;
  const plan = { record, boxes: new Map(), before: nodes.map(() => []), after: nodes.map(() => []), keys: new Map() };
  for (const [from, to] of record.edges) {
    plan.before[to].push(from);
    plan.after[from].push(to);
  }
  const counts = new Map();
  plan.key = nodes.map((node, index) => {
    if (record.placements[index] === null) return null;
    const name = node.name || node.op;
    const count = counts.get(name) || 0;
    counts.set(name, count + 1);
    plan.keys.set(name + "\u0000" + count, index);
    return name + "\u0000" + count;
  });
  plan.layer = layers(plan, nodes, tensors, storages);
  return plan;
}

/** The layer that a node's own name or those of its weights and states say, and at least that of what it reads. */
function layers(plan, nodes, tensors, storages) {
  const said = (text) => {
    const found = /(?:^|[._])(?:blk|layers?|l)[._]?(\d+)(?:[._]|$)/.exec(text);
    return found ? Number(found[1]) : -1;
  };
  const own = nodes.map((node) => {
    const touched = [...node.sources, ...node.results].filter((tensor) => tensor !== null);
    return Math.max(said(node.name || ""), ...touched.map((tensor) => said(storages[tensors[tensor].storage].name || "")));
  });
  const last = Math.max(...own);
  const layer = new Array(nodes.length).fill(-1);
  for (const index of ordered(plan, nodes.length)) {
    const inherited = Math.max(-1, ...plan.before[index].map((earlier) => layer[earlier]));
    const names = nodes[index].sources.map((tensor) => (tensor === null ? "" : storages[tensors[tensor].storage].name || ""));
    const ends = last >= 0 && names.some((name) => /^output/.test(name));
    layer[index] = ends ? last + 1 : Math.max(own[index], inherited);
  }
  return layer;
}

/** Nodes so that each comes after what it reads. */
function ordered(plan, count) {
  const waits = plan.before.map((list) => list.length);
  const ready = [];
  for (let index = 0; index < count; index++) if (waits[index] === 0) ready.push(index);
  for (let at = 0; at < ready.length; at++) {
    for (const later of plan.after[ready[at]]) if (--waits[later] === 0) ready.push(later);
  }
  return ready;
}

const colour = (dispatch) => `hsl(${(dispatch * 137.508) % 360} 62% 84%)`;

function draw(plan) {
  const { record } = plan;
  const counts = record.census;
  const pane = element("section", { className: "plan" });
  pane.append(
    element("h1", {}, `plan ${record.hash}`),
    element("p", {}, `${counts.nodes} nodes (${counts.fused} fused, ${counts.aliases} views elided) in ${counts.dispatches} ` +
      `launches, ${counts.phases} phases, ${counts.splits} splits, on ${record.devices.map((device) => device.name).join(", ")}`),
  );
  const groups = new Map();
  for (const index of ordered(plan, plan.layer.length)) {
    if (record.placements[index] === null) continue;
    if (!groups.has(plan.layer[index])) groups.set(plan.layer[index], []);
    groups.get(plan.layer[index]).push(index);
  }
  const last = Math.max(...groups.keys());
  for (const layer of [...groups.keys()].sort((a, b) => a - b)) pane.append(drawLayer(plan, layer, groups.get(layer), last));
  byId("plans").append(pane);
}

function drawLayer(plan, layer, members, last) {
  const place = new Map();
  const taken = [];
  for (const index of members) {
    const column = Math.max(-1, ...plan.before[index].filter((earlier) => place.has(earlier)).map((earlier) => place.get(earlier)[0])) + 1;
    const row = taken[column] || 0;
    taken[column] = row + 1;
    place.set(index, [column, row]);
  }
  const rows = Math.max(...taken), width = taken.length * STEP_X, height = rows * STEP_Y;
  const field = element("div", { className: "field" });
  field.style.cssText = `width:${width}px;height:${height}px`;
  field.append(edges(plan, place));
  for (const index of members) field.append(box(plan, index, place.get(index)));
  const title = layer < 0 ? (last < 0 ? "no layers are named" : "before the layers") : layer === last && layer > 0 && !named(plan, layer) ? "after the layers" : `layer ${layer}`;
  const block = element("div", { className: "layer" }, element("h2", {}, title), field);
  block.style.containIntrinsicSize = `${width}px ${height + 30}px`;
  return block;
}

/** Whether any weight or state says this layer itself. */
function named(plan, layer) {
  const storages = plan.record.graph.storages;
  return storages.some((storage) => new RegExp(`(?:blk|layers?|l)[._]?${layer}(?:[._]|$)`).test(storage.name || ""));
}

/** All lines between nodes of one layer as one path. */
function edges(plan, place) {
  const parts = [];
  for (const [index, [column, row]] of place) {
    for (const earlier of plan.before[index]) {
      if (!place.has(earlier)) continue;
      const [from, at] = place.get(earlier);
      const [x1, y1, x2, y2] = [from * STEP_X + WIDTH, at * STEP_Y + HEIGHT / 2, column * STEP_X, row * STEP_Y + HEIGHT / 2];
      const bend = Math.min(24, (x2 - x1) / 2);
      parts.push(`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`);
    }
  }
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", parts.join(""));
  picture.append(path);
  return picture;
}

function box(plan, index, [column, row]) {
  const node = plan.record.graph.nodes[index];
  const at = plan.record.placements[index];
  const dispatch = plan.record.dispatches[at];
  const made = element("button", { className: "node", title: `node ${index} ${node.op} ${node.name || ""}` },
    element("b", {}, node.name || node.op), element("span", {}, `${index} \u2192 ${at} ${dispatch.kernel}`));
  made.style.cssText = `left:${column * STEP_X}px;top:${row * STEP_Y}px;background:${colour(at)}`;
  made.dataset.node = index;
  made.classList.toggle("fused", dispatch.nodes.length > 1);
  made.classList.toggle("away", dispatch.device > 0);
  made.addEventListener("click", () => choose(plan, index));
  plan.boxes.set(index, made);
  return made;
}

/** How a node runs, as text to compare. */
function run(plan, index) {
  const dispatch = plan.record.dispatches[plan.record.placements[index]];
  const { kernel, variant, rule, nodes, constants } = dispatch;
  return JSON.stringify([kernel, variant, rule, nodes.length, constants, plan.record.devices[dispatch.device].name]);
}

function markChanges([first, second]) {
  const mark = (plan, other) => plan.key.forEach((key, index) => {
    const twin = key === null ? undefined : other.keys.get(key);
    if (key !== null && (twin === undefined || run(plan, index) !== run(other, twin))) plan.boxes.get(index).classList.add("changed");
  });
  mark(first, second);
  mark(second, first);
}

function choose(plan, index) {
  for (const name of ["chosen", "reads", "readers"]) {
    document.querySelectorAll(`.${name}`).forEach((box) => box.classList.remove(name));
  }
  plan.before[index].forEach((earlier) => plan.boxes.get(earlier)?.classList.add("reads"));
  plan.after[index].forEach((later) => plan.boxes.get(later)?.classList.add("readers"));
  plan.boxes.get(index)?.classList.add("chosen");
  const other = plans.find((candidate) => candidate !== plan);
  const twin = other?.keys.get(plan.key[index]);
  const opens = byId("story").hidden;
  tell(plan, index, twin === undefined ? null : [other, twin]);
  // The story takes room: what was in the middle no longer is.
  if (opens && plan.boxes.has(index)) show(plan.boxes.get(index));
  if (twin !== undefined) show(other.boxes.get(twin)).classList.add("chosen");
}

/** Brings a box to the middle of its pane. */
function show(box) {
  const pane = box.closest(".plan");
  const [inner, outer] = [box.getBoundingClientRect(), pane.getBoundingClientRect()];
  pane.scrollBy(inner.left - outer.left - (outer.width - inner.width) / 2, inner.top - outer.top - (outer.height - inner.height) / 2);
  return box;
}

/** Opens the story of a node, and of its twin in the other plan. */
function tell(plan, index, twin) {
  const story = byId("story");
  const close = element("button", { textContent: "close" });
  close.addEventListener("click", () => { story.hidden = true; });
  story.replaceChildren(close, ...chapter(plan, index), ...(twin ? [element("hr", {}), ...chapter(...twin)] : []));
  story.hidden = false;
}

function chapter(plan, index) {
  const { graph, dispatches, placements, devices, hash } = plan.record;
  const node = graph.nodes[index];
  const link = (to) => {
    const made = element("a", {}, `${to} ${graph.nodes[to].name || graph.nodes[to].op}`);
    made.addEventListener("click", () => { if (plan.boxes.has(to)) show(plan.boxes.get(to)); choose(plan, to); });
    return made;
  };
  const list = (links) => links.length ? links.flatMap((to, at) => (at ? [", ", link(to)] : [link(to)])) : ["nobody"];
  const parts = [element("h2", {}, `node ${index}: ${node.op} ${node.name || ""}`), element("p", {}, `plan ${hash}`)];
  if (node.attributes) parts.push(element("p", {}, JSON.stringify(node.attributes)));
  const at = placements[index];
  if (at === null) {
    parts.push(element("p", {}, "a view: no work"));
  } else {
    const { kernel, variant, rule, device, phase, nodes, constants, bytes, flops } = dispatches[at];
    parts.push(element("p", {}, `launch ${at}: ${kernel}/${variant} on ${devices[device].name} by rule ${rule}, phase ${phase}, ` +
      `${bytes.toLocaleString()} bytes, ${flops.toLocaleString()} operations`));
    parts.push(element("p", {}, "constants ", Object.entries(constants).map(([name, value]) => `${name}=${value}`).join(" ") || "none"));
    if (nodes.length > 1) parts.push(element("p", {}, "with ", ...list(nodes.filter((other) => other !== index))));
  }
  parts.push(element("h3", {}, "Reads and writes"), operands(graph, node));
  parts.push(element("p", {}, "reads from ", ...list(plan.before[index])), element("p", {}, "read by ", ...list(plan.after[index])));
  parts.push(element("h3", {}, "Trail"), trail(plan, index));
  return parts;
}

/** Bytes of one element or block, as far as strides are told in elements. */
const SIZES = { F32: 4, F16: 2, BF16: 2, F64: 8, I8: 1, I16: 2, I32: 4, I64: 8 };

function operands(graph, node) {
  const table = element("table", {}, element("tr", {}, ...["", "tensor", "extents", "strides", "storage"].map((text) => element("th", {}, text))));
  const row = (what, id) => {
    if (id === null) return;
    const { storage, dtype, shape, strides, offset, version } = graph.tensors[id];
    const size = SIZES[dtype];
    const counted = size ? ` bytes (${strides.map((stride) => stride / size).join(", ")} elements)` : " bytes";
    const name = graph.storages[storage].name || `#${storage}`;
    const cells = [what, `t${id} ${dtype}`, shape.join(", "), strides.join(", ") + counted, `${name} v${version}, offset ${offset}`];
    table.append(element("tr", {}, ...cells.map((text) => element("td", {}, text))));
  };
  node.sources.forEach((id, at) => row(`reads ${at}`, id));
  node.results.forEach((id, at) => row(`makes ${at}`, id));
  return table;
}

function trail(plan, index) {
  const list = element("ol", {});
  for (const attempt of plan.record.trail.filter((candidate) => candidate.visited.includes(index))) {
    const item = element("li", {}, `${attempt.rule} at node ${attempt.root}: `, element("span", { className: `state ${attempt.state}` }, attempt.state));
    if (attempt.dispatch !== undefined) item.append(` as launch ${attempt.dispatch}`);
    if (attempt.reason) item.append(`: ${attempt.reason}`);
    for (const { node, step, text } of attempt.declines) {
      item.append(element("div", {}, `node ${node}${step === undefined ? "" : ` step ${step}`}: ${text}`));
    }
    list.append(item);
  }
  return list;
}

let matches = [], current = -1;

/** Marks every box whose node, kernel or tensors hold the text. */
function find(text) {
  matches.forEach(([, , box]) => box.classList.remove("match", "current"));
  [matches, current] = [[], -1];
  const wanted = text.trim().toLowerCase();
  if (wanted) {
    for (const plan of plans) {
      const { nodes, tensors, storages } = plan.record.graph;
      for (const [index, box] of plan.boxes) {
        const node = nodes[index];
        const touched = [...node.sources, ...node.results].filter((id) => id !== null).map((id) => storages[tensors[id].storage].name || "");
        const words = [String(index), node.op, node.name || "", plan.record.dispatches[plan.record.placements[index]].kernel, ...touched];
        const exact = /^\d+$/.test(wanted);
        if (exact ? words[0] === wanted : words.some((word) => word.toLowerCase().includes(wanted))) matches.push([plan, index, box]);
      }
    }
  }
  matches.forEach(([, , box]) => box.classList.add("match"));
  byId("found").textContent = wanted ? `${matches.length} found` : "";
}

function step(by) {
  if (!matches.length) return;
  matches[current]?.[2].classList.remove("current");
  current = (current + by + matches.length) % matches.length;
  show(matches[current][2]).classList.add("current");
  byId("found").textContent = `${current + 1} of ${matches.length} found`;
}

plans.forEach(draw);
byId("changes").hidden = plans.length < 2;
if (plans.length === 2) markChanges(plans);
byId("find").addEventListener("input", (event) => find(event.target.value));
byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") step(event.shiftKey ? -1 : 1); });
byId("next").addEventListener("click", () => step(1));
byId("previous").addEventListener("click", () => step(-1));
byId("changed").addEventListener("change", (event) => document.body.classList.toggle("only", event.target.checked));
document.addEventListener("keydown", (event) => { if (event.key === "Escape") byId("story").hidden = true; });

// A link may carry a search and a node: page.html#find=l2_norm&node=17
const asked = new URLSearchParams(location.hash.slice(1));
if (asked.has("find")) {
  byId("find").value = asked.get("find");
  find(asked.get("find"));
  step(1);
}
if (asked.has("node")) {
  const box = plans[0].boxes.get(Number(asked.get("node")));
  if (box) show(box).click();
}
