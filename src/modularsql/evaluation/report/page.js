// In a block: the bundle of the charts declares names of its own, `$` among them.
{
"use strict";
// Everything shown comes from the data of strangers: it is set as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (selector) => document.querySelector(selector);

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function tableOf(table) {
  const scroll = element("div", null, "scroll");
  const made = element("table");
  const numeric = table.columns.map((_, at) =>
    table.rows.length > 0 && table.rows.every((row) => /^-$|^-?[\d.,]+$/.test(row[at])));
  const head = element("tr");
  table.columns.forEach((name, at) => head.append(element("th", name, numeric[at] ? "number" : "")));
  made.append(element("thead"));
  made.tHead.append(head);
  const body = element("tbody");
  for (const row of table.rows) {
    const line = element("tr");
    row.forEach((cell, at) => line.append(element("td", cell, numeric[at] ? "number" : "")));
    body.append(line);
  }
  made.append(body);
  scroll.append(made);
  return scroll;
}

function showTable(into, table, level) {
  into.append(element(level, table.title));
  if (table.note) into.append(element("p", table.note, "note"));
  if (table.rows.length <= MOST_OPEN) {
    into.append(tableOf(table));
    return;
  }
  const details = element("details");
  details.append(element("summary", `${table.rows.length.toLocaleString("en")} rows`), tableOf(table));
  into.append(details);
}

// A longer table is folded: all pairs of metrics would bury what stands below them.
const MOST_OPEN = 60;

function showTables() {
  const [first, ...others] = data.tables;
  showTable($("#scores"), first, "h2");
  for (const note of data.notes) $("#scores").append(element("p", note, "note"));
  for (const table of others) showTable($("#studies"), table, "h3");
  $("#facts").textContent = data.facts;
  $("#about pre").textContent = data.about;
}

function showCharts() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const ink = dark ? "#e6e9ed" : "#1c2128";
  const grid = dark ? "#3a424c" : "#e1e5ea";
  const words = { labelColor: ink, titleColor: ink, gridColor: grid, domainColor: grid, tickColor: grid };
  const config = { background: null, view: { stroke: null }, axis: { ...words, labelLimit: 220 }, legend: words };
  if (!window.vegaEmbed) {
    $("#no-charts").hidden = false;
    return;
  }
  $("#charts").hidden = !data.charts.length;
  for (const chart of data.charts) {
    const figure = element("figure", null, chart.wide ? "wide" : "");
    figure.append(element("figcaption", chart.title));
    const place = element("div");
    figure.append(place);
    $(".charts").append(figure);
    window.vegaEmbed(place, { ...chart.spec, config }, { actions: false, renderer: "svg" });
  }
}

const isGood = (one) => one.state === "right" && one.cause !== "order";

const STATES = {
  "not right": (one) => one.counted && !isGood(one),
  "MBS: right as a set only": (one) => one.state === "MBS",
  "right but for the order": (one) => one.cause === "order",
  "wrong": (one) => one.state === "wrong",
  "failed": (one) => one.state === "failed",
  "undecided": (one) => one.state === "undecided",
  "fixed by the guard": (one) => one.guarded.some((g) => g.change > 0),
  "broken by the guard": (one) => one.guarded.some((g) => g.change < 0),
  "with findings": (one) => one.guarded.some((g) => g.found.length),
  "gold smells": (one) => data.questions[one.question].smells.length,
  "the prediction smells": (one) => one.smells.length,
  "right": (one) => one.state === "right",
  "not counted": (one) => !one.counted,
  "all": () => true,
};
const HEADLINES = ["set_ex", "multiset_ex"];
const STEP = 200;
const PAGE = 10;
let found = [];
let shown = 0;
let chosen = -1;

function options(select, names) {
  for (const name of names) select.append(element("option", name));
}

function matches(one, form) {
  const question = data.questions[one.question];
  const text = form.text.value.trim().toLowerCase();
  return (form.system.value === "all" || data.systems[one.system] === form.system.value)
    && (form.db.value === "all" || question.db === form.db.value)
    && (form.cause.value === "all" || one.cause === form.cause.value)
    && STATES[form.state.value](one)
    && (!text || question.id === text
      || [question.question, question.gold, one.sql].some((part) => (part || "").toLowerCase().includes(text)));
}

function refresh() {
  const form = $("#filter").elements;
  found = data.answers.filter((one) => matches(one, form));
  shown = 0;
  chosen = -1;
  $("#list").replaceChildren();
  $("#answer").replaceChildren();
  $("#filter output").textContent = `${found.length.toLocaleString("en")} of ${data.answers.length.toLocaleString("en")} answers`;
  more();
  if (found.length) choose(0);
}

function more() {
  $("#list .more")?.remove();
  const severalSystems = $("#filter").elements.system.value === "all";
  found.slice(shown, shown + STEP).forEach((one, at) => {
    const question = data.questions[one.question];
    const item = element("li");
    item.id = `answer-${shown + at}`;
    item.setAttribute("role", "option");
    item.append(element("b", `${question.id} · ${question.db} `));
    item.append(element("b", one.cause || one.state, isGood(one) ? "good" : "bad"));
    item.append(element("span", question.question || question.gold || ""));
    if (severalSystems) item.append(element("span", data.systems[one.system]));
    const place = shown + at;
    item.addEventListener("click", () => choose(place));
    $("#list").append(item);
  });
  shown = Math.min(found.length, shown + STEP);
  if (shown < found.length) {
    const item = element("li", "more …", "more");
    item.addEventListener("click", more);
    $("#list").append(item);
  }
}

function choose(place) {
  if (place < 0 || place >= found.length) return;
  while (place >= shown) more();
  const items = $("#list").children;
  if (chosen >= 0) items[chosen]?.removeAttribute("aria-selected");
  chosen = place;
  items[place].setAttribute("aria-selected", "true");
  const list = $("#list");
  list.setAttribute("aria-activedescendant", items[place].id);
  const top = items[place].offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + items[place].offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top + items[place].offsetHeight - list.clientHeight;
  }
  showAnswer(found[place]);
}

function showAnswer(one) {
  const question = data.questions[one.question];
  const into = $("#answer");
  into.replaceChildren();
  into.append(element("h3", question.question || `Question ${question.id}`));
  if (question.hint) into.append(element("p", question.hint, "note"));
  const chips = element("p");
  const chip = (text, kind) => chips.append(element("span", text, `chip ${kind || ""}`));
  chip(data.systems[one.system]);
  chip(`${question.db} · ${question.id}`);
  if (question.difficulty) chip(question.difficulty);
  chip(one.cause || one.state, isGood(one) ? "good" : "bad");
  for (const [name, score] of scoresOf(one)) if (HEADLINES.includes(name)) chip(`${name} ${score}`);
  into.append(chips);
  if (!isGood(one) && data.causes[one.cause]) into.append(element("p", `${one.cause}: ${[data.causes[one.cause], one.columns].filter(Boolean).join("; ")}.`, "note"));
  for (const smell of question.smells) into.append(element("p", `Gold smells of ${smell}: ${data.smells[smell]}.`, "note warn"));
  for (const smell of one.smells) into.append(element("p", `The prediction smells of ${smell}: ${data.smells[smell]}.`, "note warn"));
  showFurther(into, one);
  if (!one.counted) into.append(element("p", `Not counted: gold is ${one.gold_status}.`, "note"));
  into.append(element("h3", "Gold"));
  into.append(element("pre", question.gold || (one.gold_status === "ok" ? "a published result" : "none")));
  into.append(element("h3", "Prediction"));
  into.append(element("pre", one.sql || "none"));
  for (const problem of one.problems) into.append(element("p", problem, "bad"));
  showResults(into, one);
  showGuard(into, one);
}

// Names and scores; an answer that is not counted has none.
function scoresOf(one) {
  return one.scores.map((score, at) => [data.metrics[at], score]);
}

// The scores that are not said above, and how the other systems did on this question.
function showFurther(into, one) {
  const further = scoresOf(one).filter(([name]) => !HEADLINES.includes(name));
  if (further.length) {
    const details = element("details");
    details.append(element("summary", "other scores"));
    for (const [name, score] of further) details.append(element("span", `${name} ${score}`, "chip"));
    into.append(details);
  }
  const others = data.answers.filter((other) => other.question === one.question && other !== one);
  if (!others.length) return;
  const line = element("p", "Other systems: ", "note");
  for (const other of others) {
    const button = element("button", `${data.systems[other.system]} `, "chip");
    button.append(element("b", other.cause || other.state, isGood(other) ? "good" : "bad"));
    button.addEventListener("click", () => showAnswer(other));
    line.append(button);
  }
  into.append(line);
}

function showResults(into, one) {
  if (!one.gold && !one.pred) {
    const same = one.cause === "order" ? "The rows are the same, in another order." : "Both results are the same.";
    into.append(element("p", one.state === "right" ? same : "No results were kept.", "note"));
    return;
  }
  const pair = element("div", null, "pair");
  pair.append(side("Gold returns", one.gold, one.gold_rows), side("The prediction returns", one.pred, one.pred_rows));
  if ([one.gold, one.pred].some((shown) => shown && shown.differs.includes(true))) {
    const where = one.cause === "order" ? "stand elsewhere" : "are not";
    into.append(element("p", `Rows marked ≠ ${where} on the other side.`, "note"));
  }
  into.append(pair);
}

function side(title, result, rows) {
  const made = element("div");
  const count = rows === null ? "" : ` ${rows.toLocaleString("en")} row${rows === 1 ? "" : "s"}`;
  made.append(element("h3", title + count));
  if (!result) {
    made.append(element("p", "nothing", "note"));
    return made;
  }
  const scroll = element("div", null, "scroll");
  const table = element("table");
  const head = element("tr");
  head.append(element("th", "row", "number"));
  for (const name of result.columns) head.append(element("th", name));
  table.append(element("thead"));
  table.tHead.append(head);
  const body = element("tbody");
  result.rows.forEach((row, at) => {
    const line = element("tr", null, result.differs[at] ? "differs" : "");
    line.append(element("td", `${result.differs[at] ? "≠ " : ""}${result.places[at] + 1}`, "number"));
    for (const cell of row) line.append(cellOf(cell));
    body.append(line);
  });
  table.append(body);
  scroll.append(table);
  made.append(scroll);
  if (rows !== null && rows > result.rows.length) {
    made.append(element("p", `${result.rows.length} of them shown.`, "note"));
  }
  return made;
}

function cellOf(cell) {
  if (cell === null) return element("td", "NULL", "null");
  if (typeof cell === "object") return element("td", JSON.stringify(cell));
  return element("td", String(cell), typeof cell === "number" ? "number" : "");
}

function showGuard(into, one) {
  for (const guarded of one.guarded) {
    into.append(element("h3", `Guard, policy ${guarded.policy}`));
    const chips = element("p");
    for (const [rule, severity] of guarded.found) {
      chips.append(element("span", rule, `chip ${severity === "info" ? "" : severity === "error" ? "bad" : "warn"}`));
    }
    const word = { "1": "fixed", "-1": "broken", "0": "as before" }[String(guarded.change)];
    const repairs = guarded.applied.join(" + ");
    chips.append(element("span", repairs ? `${repairs}: ${word}` : "no repair", `chip ${guarded.change > 0 ? "good" : guarded.change < 0 ? "bad" : ""}`));
    into.append(chips);
    if (guarded.sql) into.append(element("pre", guarded.sql));
  }
}

function start() {
  showTables();
  showCharts();
  const form = $("#filter");
  options(form.elements.system, data.systems.length > 1 ? [...data.systems, "all"] : data.systems);
  options(form.elements.state, Object.keys(STATES));
  options(form.elements.db, ["all", ...new Set(data.questions.map((one) => one.db))]);
  options(form.elements.cause, ["all", ...new Set(data.answers.map((one) => one.cause).filter(Boolean))].sort());
  form.elements.cause.value = "all";
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => event.preventDefault());
  $("#list").addEventListener("keydown", (event) => {
    const last = found.length - 1;
    const places = {
      ArrowDown: chosen + 1,
      ArrowUp: chosen - 1,
      PageDown: Math.min(chosen + PAGE, last),
      PageUp: Math.max(chosen - PAGE, 0),
      Home: 0,
      End: Math.min(shown, found.length) - 1,
    };
    if (event.key in places) {
      event.preventDefault();
      choose(places[event.key]);
    }
  });
  refresh();
}

start();
}
