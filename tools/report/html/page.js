// SPDX-License-Identifier: Apache-2.0
/*
 * The picture of each process, out of the JSON below it: who asked for which library, by
 * which rule it was found, whose installation it is, what was passed over. Everything is set as
 * text, never as markup.
 */
"use strict";
(() => {
const SVG = "http://www.w3.org/2000/svg";
const COLUMNS = ["hosts", "facades", "parts", "CUDA dependencies and driver"];
const HUES = [212, 28, 140, 285, 345, 178, 62, 0, 250, 100];
const reports = [...document.querySelectorAll(".everything pre")].map((p) => JSON.parse(p.textContent));
const drawer = document.getElementById("details");
let opened = null; /* the node whose details are shown */

/* ---- text and elements ---- */

/* As the rest of the page has it: what a terminal would obey or nobody would see is spelled out. */
const spelled = (text) => String(text).replace(
  /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu, (c) => {
    const code = c.codePointAt(0), digits = code.toString(16);
    return code < 128 ? "\\x" + digits.padStart(2, "0") : "\\u" + digits.padStart(4, "0");
  });

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== null) node.setAttribute(key, value);
  node.append(...children.filter((c) => there(c) && c !== false)
                         .map((c) => typeof c === "object" ? c : spelled(c)));
  return node;
}
const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const base = (path) => path ? path.replace(/^.*\//, "") : path;
const folder = (path) => path ? path.replace(/\/[^/]*$/, "") : null;
const there = (value) => value !== null && value !== undefined;

/* ---- the model of the picture ---- */

function columnOfName(name) {
  return /^libcudnn\.so/.test(base(name) || "") ? 1 : /^libcudnn_/.test(base(name) || "") ? 2 : 3;
}

/* As the command tells installations apart: by their path, else by the directory. */
const installationKey = (r) => r.installation_path || folder(r.real_path || r.path);
function installationText(r) {
  const words = [r.installation_kind, r.installation, r.installation && r.installation_version];
  return {text: words.filter(Boolean).join(" "), path: installationKey(r)};
}

function versionText(o) {
  if (o.version) return o.version;
  if (o.version_floor && o.version_ceiling) return `${o.version_floor} to ${o.version_ceiling}`;
  if (o.version_floor) return `not older than ${o.version_floor}`;
  return o.version_ceiling ? `not newer than ${o.version_ceiling}` : null;
}

class Model {
  constructor(report) {
    this.report = report;
    this.stack = report.stack;
    this.nodes = new Map(); /* by id */
    this.ids = new Map(); /* of objects */
    this.edges = new Map(); /* by kind, ends */
    this.installations = new Map(); /* key to {index, text} */
    this.stack.objects.forEach((o, i) => this.addObject(o, i));
    this.installInOrder();
    this.stack.objects.forEach((o) => this.addAsker(o));
    this.stack.searches.forEach((s) => this.addSearch(s));
    this.stack.candidates.forEach((c) => this.addCandidate(c));
    this.stack.bindings.forEach((b) => this.addBinding(b));
    this.stack.failures.forEach((f) => this.addFailure(f));
    this.stack.files.forEach((f, i) => this.addFile(f, i));
    this.stack.demands.forEach((d) => this.addDemand(d));
    this.addDriver();
    this.nodes.forEach((n) => this.mark(n));
  }

  node(id, make) {
    if (!this.nodes.has(id)) {
      this.nodes.set(id, {id, records: [], more: [], column: 3, after: null, ...make()});
    }
    return this.nodes.get(id);
  }

  /* Edges of one kind between the same two are one; each rule is told once. */
  edge(kind, from, to, rule) {
    const key = `${kind} ${from} ${to}`;
    if (!this.edges.has(key)) this.edges.set(key, {kind, from, to, rules: [], how: null});
    const edge = this.edges.get(key);
    if (rule && !edge.rules.includes(rule)) edge.rules.push(rule);
    return edge;
  }

  install(record) {
    const key = installationKey(record);
    if (!key) return null;
    const known = this.installations.get(key);
    if (!known) {
      this.installations.set(key, {index: this.installations.size, ...installationText(record)});
    } else if (!known.text) {
      known.text = installationText(record).text;
    }
    return key;
  }

  addObject(o, i) {
    this.ids.set(o, there(o.object) ? `object ${o.object}` : `object without a number ${i}`);
    this.node(this.ids.get(o), () => ({
      kind: o.role || "other",
      column: {host: 0, facade: 1, part: 2, "cuda-dependency": 3}[o.role] ?? 0,
      name: o.part || base(o.real_path || o.path || o.soname) || "a file without a name",
      more: [[versionText(o), o.part && base(o.path || o.real_path)].filter(Boolean).join("  ") ||
             o.framework || folder(o.real_path || o.path)],
      unloaded: !o.mapped,
      object: o.object,
      records: [["object", o]],
    }));
  }

  /* Letters and colours begin with cuDNN's own. */
  installInOrder() {
    const rank = (n) => ["facade", "part", "host"].indexOf(n.kind) + 1 || 4;
    [...this.nodes.values()].sort((a, b) => rank(a) - rank(b))
      .forEach((n) => { n.installation = this.install(n.records[0][1]); });
  }

  /* Who asks, as a node: an object, or just a path. null: not known. */
  caller(object, path) {
    if (there(object) && this.nodes.has(`object ${object}`)) return `object ${object}`;
    const known = path && this.stack.objects.find((o) => o.path === path || o.real_path === path);
    if (known) return this.ids.get(known);
    if (!path) return null;
    return this.node(`caller ${path}`, () => ({
      kind: "caller", column: 0, name: base(path), more: [folder(path)],
      records: [["asks for libraries", {path}]],
    })).id;
  }

  missing(name) {
    return this.node(`missing ${name}`, () => ({
      kind: "missing", column: columnOfName(name),
      name: base(name) || "a name that is not known",
      more: ["asked for in vain"],
    }));
  }

  addAsker(o) {
    const from = this.caller(o.asked_by_object, o.asked_by);
    if (from) this.edge("found", from, this.ids.get(o), null).how = o.asked_how;
  }

  addSearch(s) {
    const to = there(s.object) && this.nodes.get(`object ${s.object}`);
    const target = to || this.missing(s.name);
    const from = this.caller(s.caller_object, s.caller);
    target.records.push(["search", s]);
    if (from) this.edge(to ? "found" : "failed", from, target.id, to ? s.rule : "not found");
  }

  addCandidate(c) {
    const search = this.stack.searches.find((s) => s.search === c.search);
    const from = search && this.caller(search.caller_object, search.caller);
    const beside = search && (there(search.object) ? `object ${search.object}`
                                                   : `missing ${search.name}`);
    const id = `candidate ${beside} ${c.real_path || c.path}`;
    const target = this.nodes.get(beside);
    const node = this.node(id, () => ({
      kind: "candidate", lost: true, after: beside,
      column: target ? target.column : columnOfName(c.path),
      name: base(c.path), more: [[c.version, c.file_state !== "fits" && c.file_state, folder(c.path)]
        .filter(Boolean).join("  ")],
      installation: this.install(c),
    }));
    node.records.push([c.beaten ? "unused: found later" : "skipped", c]);
    if (from) this.edge("lost", from, id, c.rule);
  }

  /* A lazy slot that was not called yet leads nowhere so far: that is told with its host alone. */
  addBinding(b) {
    const from = this.caller(b.host, b.host_path);
    const rule = `${b.how || "bound"}: ${b.functions.length} function` +
      (b.functions.length === 1 ? "" : "s");
    if (from && there(b.target) && this.nodes.has(`object ${b.target}`)) {
      this.edge("bound", from, `object ${b.target}`, rule);
    } else if (from && b.how === "undefined") {
      const target = this.missing("no library");
      target.more = ["functions that nothing has"];
      target.records.push(["binding", b]);
      this.edge("failed", from, target.id, rule);
    }
  }

  /* Where one of several names was answered, the others are no losses: they are told with the node
   * of whoever asked. */
  addFailure(f) {
    const from = this.caller(f.caller_object, f.caller);
    const answered = from && /^libcudnn_/.test(base(f.name) || "") && !f.function &&
      this.stack.objects.some((o) => o.role === "part" && o.part &&
        base(f.name).startsWith(`libcudnn_${o.part}.so`) &&
        (o.asked_by_object === f.caller_object || o.asked_by === f.caller));
    if (answered) {
      this.nodes.get(from).records.push(["answered by another name", f]);
      return;
    }
    const target = this.missing(f.function || f.name);
    target.records.push(["failure", f]);
    if (from) this.edge("failed", from, target.id, f.function ? "no such function" : "not found");
  }

  addFile(f, i) {
    this.node(`file ${i}`, () => ({
      kind: "file", lost: true, column: columnOfName(f.path || f.real_path), name: base(f.path),
      more: [f.fault || f.version || f.content || folder(f.path)], installation: this.install(f),
      records: [["file in question", f]],
    }));
  }

  addDemand(d) {
    if (there(d.host) && this.nodes.has(`object ${d.host}`)) return;
    const path = d.host_path;
    if (!path) return;
    const id = this.caller(null, path);
    this.nodes.get(id).records.push(["demand", d]);
  }

  addDriver() {
    const m = this.stack.machine;
    if (!m) return;
    this.node("driver", () => ({
      kind: "driver", column: 3, name: m.driver ? `driver ${m.driver}` : "no NVIDIA driver seen",
      more: [m.gpus.join(", ") || (m.gpu_devices ? `${m.gpu_devices} GPUs` : "no GPU seen")],
      absent: !m.driver, records: [["machine", m]],
    }));
    this.stack.objects.filter((o) => /^libcuda\.so/.test(base(o.soname || o.path) || ""))
      .forEach((o) => this.edge("found", this.ids.get(o), "driver", null));
  }

  /* What else is known of it, and the worst that is said of it. */
  mark(node) {
    const s = this.stack, about = (key) => (r) => there(node.object) && r[key] === node.object;
    const add = (title, list) => list.forEach((r) => node.records.push([title, r]));
    if (node.kind === "missing") {
      node.absent = true;
    }
    if (there(node.object)) {
      const o = node.records[0][1];
      add("demand", s.demands.filter(about("host")));
      s.candidates.filter((c) => s.searches.some((f) => f.search === c.search && about("object")(f)))
        .forEach((c) => node.records.push(["candidate that was not taken", c]));
      add("binding", s.bindings.filter((b) => about("host")(b) || about("target")(b)));
      add("call", s.calls.filter((c) => about("host")(c) || about("target")(c)));
      add("package", s.packages.filter((p) => p.installation_path && p.installation_path === o.installation_path));
    }
    const findings = this.report.findings.filter((f) => about("object")(f) || about("host")(f));
    add("finding", findings.map((f) => ({severity: f.severity, id: f.id, title: f.title})));
    node.severity = ["error", "warning", "note"]
      .find((word) => findings.some((f) => f.object === node.object && f.severity === word));
  }

  /* The nodes of a column, each loser behind what was taken instead. */
  column(i) {
    const all = [...this.nodes.values()].filter((n) => n.column === i);
    const first = all.filter((n) => !n.after || !this.nodes.has(n.after));
    return first.flatMap((n) => [n, ...all.filter((l) => l.after === n.id)]);
  }
}

/* ---- details ---- */

function valueOf(value) {
  if (Array.isArray(value)) {
    return el("ul", {}, ...value.map((v) => el("li", {}, typeof v === "object" && v
      ? Object.values(v).filter(there).map(spelled).join(", ") : v)));
  }
  return value === true ? "yes" : value === false ? "no" : value;
}

function recordList(record) {
  const rows = Object.entries(record)
    .filter(([, v]) => there(v) && !(Array.isArray(v) && v.length === 0));
  return el("dl", {class: "record"}, ...rows.flatMap(([key, value]) =>
    [el("dt", {}, key.replace(/_/g, " ")), el("dd", {}, valueOf(value))]));
}

function closeDetails() {
  drawer.hidden = true;
  if (!opened) return;
  opened.setAttribute("aria-expanded", "false");
  highlight(opened, false);
  opened.focus();
  opened = null;
}

function highlight(button, on) {
  const id = button.dataset.node;
  button.closest(".graph").querySelectorAll(".edge").forEach((edge) =>
    edge.classList.toggle("on", on && (edge.dataset.from === id || edge.dataset.to === id)));
}

/* Version and its source, by which rule it was found. */
function summary(node, model) {
  const o = node.records[0][1];
  const rules = [...model.edges.values()].filter((e) => e.kind === "found" && e.to === node.id)
    .flatMap((e) => e.rules);
  return el("p", {}, el("strong", {}, versionText(o) || "version not known"),
            o.version_source && ` (${o.version_source})`,
            rules.length > 0 && `, found by ${rules.join(", ")}`);
}

function openDetails(button, node, model) {
  if (opened === button) { closeDetails(); return; }
  if (opened) { opened.setAttribute("aria-expanded", "false"); highlight(opened, false); }
  opened = button;
  button.setAttribute("aria-expanded", "true");
  highlight(button, true);
  const close = el("button", {class: "close", type: "button"}, "Close");
  close.addEventListener("click", closeDetails);
  const installation = node.installation && model.installations.get(node.installation);
  const parts = [el("header", {}, el("h2", {}, node.name), close)];
  if (there(node.object)) parts.push(summary(node, model));
  if (installation) parts.push(el("p", {}, `installation ${letter(installation.index)}: `,
                                  installation.text, " ", installation.path));
  let title = null;
  for (const [name, record] of node.records) {
    if (name !== title) parts.push(el("h3", {}, name));
    title = name;
    parts.push(recordList(record));
  }
  drawer.replaceChildren(...parts);
  drawer.setAttribute("aria-label", spelled(node.name));
  drawer.hidden = false;
  drawer.classList.toggle("left", button.getBoundingClientRect().right > innerWidth - 480);
  drawer.scrollTop = 0;
  drawer.focus({preventScroll: true});
}

/* ---- drawing ---- */

/* A, B, ... Z, AA: told by letter and shape as well as by colour. */
function letter(i) {
  return (i >= 26 ? letter(Math.floor(i / 26) - 1) : "") + String.fromCharCode(65 + i % 26);
}
const hue = (i) => i < HUES.length ? HUES[i] : Math.round(i * 137.5) % 360;
const SHAPES = ["M10 1a9 9 0 1 0 .01 0z", "M2 2h16v16h-16z", "M10 0l10 10l-10 10l-10-10z",
                "M10 0l9.5 5v10l-9.5 5l-9.5-5v-10z", "M6 1h8l5 5v8l-5 5h-8l-5-5v-8z"];

function badge(installation) {
  const picture = svg("svg", {width: 20, height: 20, viewBox: "0 0 20 20", "aria-hidden": "true"});
  if (!installation) {
    picture.append(svg("circle", {class: "badge none", cx: 10, cy: 10, r: 4}));
    return picture;
  }
  picture.style.setProperty("--hue", hue(installation.index));
  picture.append(svg("path", {class: "badge", d: SHAPES[installation.index % SHAPES.length]}),
                 svg("text", {x: 10, y: 14}, letter(installation.index)));
  return picture;
}

const RELATIONS = {bound: "used by", found: "asked for by", lost: "in the search of",
                   failed: "asked for in vain by"};
const MARKS = {error: "\u2716", warning: "\u25b2", note: "\u2139"};

function nodeButton(node, model) {
  const installation = node.installation && model.installations.get(node.installation);
  const into = [...model.edges.values()].filter((e) => e.to === node.id);
  const words = into.map((e) => `${RELATIONS[e.kind]} ${model.nodes.get(e.from).name}` +
                                (ruleOf(e) ? ` (${ruleOf(e)})` : ""));
  const classes = ["node", node.kind, installation && "installed", node.lost && "lost",
                   node.absent && "absent", node.unloaded && "unloaded"].filter(Boolean).join(" ");
  const state = [node.unloaded && "unloaded again", node.lost && node.kind === "candidate" &&
    "unused", installation && `installation ${letter(installation.index)}`,
    ...words].filter(Boolean).join(", ");
  const button = el("button", {type: "button", class: classes, "data-node": node.id,
                               "aria-expanded": "false", "aria-controls": "details"},
    badge(installation),
    el("span", {class: "name", title: spelled(node.name)},
       node.severity && el("span", {class: `mark ${node.severity}`, title: node.severity},
                           MARKS[node.severity], el("span", {class: "spoken"}, node.severity), " "),
       node.name),
    el("span", {class: "more"}, node.unloaded ? "unloaded again  " : null, ...node.more),
    el("span", {class: "into"}, state));
  button.style.setProperty("--in", into.length);
  if (installation) button.style.setProperty("--hue", hue(installation.index));
  button.addEventListener("click", () => openDetails(button, node, model));
  button.addEventListener("mouseenter", () => highlight(button, true));
  button.addEventListener("mouseleave", () => { if (opened !== button) highlight(button, false); });
  return button;
}

function legend(model) {
  const items = [...model.installations.values()].map((i) =>
    el("li", {}, badge(i), el("span", {}, i.text, " ", el("span", {class: "source"}, i.path))));
  const line = (kind, text) => el("li", {}, svg("svg", {width: 34, height: 10, "aria-hidden": "true"},
    svg("path", {class: `edge ${kind}`, d: "M0 5H34"})), text);
  const kinds = new Set([...model.edges.values()].map((e) => e.kind));
  const told = [["bound", "its functions are used"], ["found", "asked for, found by this rule"],
                ["lost", "would have been found: not taken"], ["failed", "asked for in vain"]];
  return [el("ul", {class: "legend lines"},
             ...told.filter(([kind]) => kinds.has(kind)).map((t) => line(...t))),
          el("ul", {class: "legend installations", "aria-label": "installations"}, ...items)];
}

/* Where an edge runs. Side by side: from the right of one to the left of the other, else around.
 * One below the other: along the left. */
function route(a, b, narrow, y) {
  const from = narrow ? a.middle : a.middle + Math.max(-14, Math.min(14, y - b.middle));
  if (narrow) {
    const x = Math.min(a.left, b.left) - 8;
    return {d: `M${a.left} ${from}H${x}V${y}H${b.left}`, tip: [b.left, y, 1],
            label: [b.left + 3, null, "start"]};
  }
  if (b.left > a.right) {
    const bend = Math.min(60, (b.left - a.right) / 2);
    return {d: `M${a.right} ${from}C${a.right + bend} ${from} ${b.left - bend} ${y} ${b.left} ${y}`,
            tip: [b.left, y, 1], label: [b.left - 9, y - 3, "end"]};
  }
  const x = b.right, out = Math.max(a.right, b.right) + 24;
  return {d: `M${a.right} ${from}C${out} ${from} ${out} ${y} ${x} ${y}`, tip: [x, y, -1],
          label: [x + 9, y - 3, "start"]};
}

/* Labels in one gap between columns: one that would cover another goes below it. */
function spread(labels) {
  const placed = [];
  const meets = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width &&
                          a.y < b.y + b.height - 3 && b.y < a.y + a.height - 3;
  for (const label of labels.sort((a, b) => a.getAttribute("y") - b.getAttribute("y"))) {
    let box = label.getBBox(), other;
    while ((other = placed.find((p) => meets(p, box)))) {
      label.setAttribute("y", Number(label.getAttribute("y")) + other.y + other.height - 2 - box.y);
      box = label.getBBox();
    }
    placed.push(box);
  }
}

function draw(graph, model) {
  const area = graph.getBoundingClientRect();
  if (area.width === 0) return;
  const narrow = getComputedStyle(graph.querySelector(".columns")).display === "block";
  const boxes = new Map();
  graph.querySelectorAll(".node").forEach((n) => {
    const r = n.getBoundingClientRect();
    boxes.set(n.dataset.node, {left: r.left - area.left, right: r.right - area.left,
                               top: r.top - area.top, bottom: r.bottom - area.top,
                               middle: (r.top + r.bottom) / 2 - area.top});
  });
  const into = new Map();
  const order = ["lost", "failed", "found", "bound"]; /* the important ones on top */
  const edges = [...model.edges.values()]
    .sort((x, y) => order.indexOf(x.kind) - order.indexOf(y.kind));
  edges.forEach((e) => into.set(e.to, [...(into.get(e.to) || []), e]));
  into.forEach((list) => list.sort((x, y) => boxes.get(x.from).middle - boxes.get(y.from).middle));
  const lines = [], words = [];
  for (const e of edges) {
    const a = boxes.get(e.from), b = boxes.get(e.to), list = into.get(e.to), i = list.indexOf(e);
    const y = narrow ? b.middle + (i - (list.length - 1) / 2) * 5
                     : b.top + (b.bottom - b.top) * (i + 1) / (list.length + 1);
    const way = route(a, b, narrow, y);
    const [x, tipY, side] = way.tip;
    lines.push(svg("path", {class: `edge ${e.kind}`, d: way.d, "data-from": e.from, "data-to": e.to,
                            "data-kind": e.kind}),
               svg("path", {class: `tip ${e.kind}`, d: `M${x} ${tipY}l${-7 * side} -4v8z`}));
    if (ruleOf(e)) {
      const labelY = narrow ? b.top - 5 - 13 * (list.length - 1 - i) : way.label[1];
      words.push(svg("text", {class: `rule ${e.kind}`, x: way.label[0], y: labelY,
                              "text-anchor": way.label[2]},
                     shortened(ruleOf(e), narrow ? 46 : side > 0 ? 22 : 17)));
    }
  }
  graph.querySelector("svg.lines").replaceChildren(...lines, ...words);
  if (!narrow) spread(words);
  if (opened && graph.contains(opened)) highlight(opened, true);
}

const ruleOf = (edge) => edge.rules.join(", ") || edge.how;
const shortened = (text, most) =>
  text.length > most ? text.slice(0, most - 1) + "\u2026" : text;

function picture(article, report) {
  const model = new Model(report);
  const section = article.querySelector(".picture");
  if (model.nodes.size === 0) return;
  const columns = COLUMNS.map((name, i) => [name, model.column(i), i])
    .filter(([, nodes]) => nodes.length > 0)
    .map(([name, nodes, i]) => {
      const column = el("div", {class: "column"}, el("h3", {}, name),
                        ...nodes.map((n) => nodeButton(n, model)));
      column.style.setProperty("--column", i);
      return column;
    });
  const last = Math.max(...[...model.nodes.values()].map((n) => n.column));
  const around = [...model.edges.values()].some((e) => model.nodes.get(e.to).column === last &&
                                                       model.nodes.get(e.from).column === last);
  const graph = el("div", {class: around ? "graph around" : "graph"},
    svg("svg", {class: "lines", "aria-hidden": "true"}), el("div", {class: "columns"}, ...columns));
  const [lines, installations] = legend(model);
  section.append(lines, graph, installations);
  section.hidden = false;
  report.findings.forEach((f, i) => linkFinding(article, graph, f, i));
  new ResizeObserver(() => draw(graph, model)).observe(graph);
}

/* From a finding to the library that it is about. */
function linkFinding(article, graph, finding, i) {
  const about = [finding.object, finding.host].filter(there).map((o) =>
    graph.querySelector(`[data-node="object ${Number(o)}"]`)).find(Boolean);
  const item = article.querySelector(`[data-finding="${i}"]`);
  if (!about || !item) return;
  const button = el("button", {type: "button", class: "show"}, "show in the picture");
  button.addEventListener("click", () => {
    about.scrollIntoView({block: "center"});
    if (opened !== about) about.click();
  });
  item.append(button);
}

/* ---- several processes: one at a time ---- */

const articles = [...document.querySelectorAll("article")];
const drawn = new Set();
const WORST = ["errors", "warnings", "notes", "ok"];

function show(index) {
  closeDetails();
  articles.forEach((a, i) => { a.hidden = i !== index; });
  if (!drawn.has(index)) {
    drawn.add(index);
    picture(articles[index], reports[index]);
  }
  document.querySelectorAll(".processes a").forEach((a) => {
    if (a.hash === `#${articles[index].id}`) a.setAttribute("aria-current", "true");
    else a.removeAttribute("aria-current");
  });
  const chooser = document.querySelector(".chooser select");
  if (chooser) chooser.selectedIndex = index;
}

function fromAddress() {
  const named = articles.findIndex((a) => `#${a.id}` === location.hash);
  const rank = (a) => (WORST.indexOf(a.dataset.verdict) + 5) % 5;
  const worst = articles.reduce((w, a, i) => rank(a) < rank(articles[w]) ? i : w, 0);
  show(named >= 0 ? named : worst);
}

function addChooser() {
  const links = new Map([...document.querySelectorAll(".processes a")].map((a) => [a.hash, a]));
  const names = articles.map((article) => {
    const link = links.get(`#${article.id}`);
    return link ? [...link.closest("tr").cells].slice(0, 5).map((c) => c.textContent.trim())
      .filter(Boolean).join(", ") : article.querySelector("h1").textContent;
  });
  const select = el("select", {id: "process"}, ...names.map((n) => el("option", {}, n)));
  select.addEventListener("change", () => { location.hash = articles[select.selectedIndex].id; });
  document.querySelector(".processes").append(
    el("p", {class: "chooser"}, el("label", {for: "process"}, "shown"), select));
}

if (articles.length > 1) addChooser();
addEventListener("hashchange", fromAddress);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !drawer.hidden) closeDetails();
});
fromAddress();
})();
