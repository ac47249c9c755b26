// What changes if …: a knob for each control that changes the model, then what it does: one big
// signed number, and a table of before, after and difference, or the characters of a text, or
// pictures, or music, before and after.

import { board, nodes } from "../lib/board.js";
import { standing } from "../lib/connection.js";
import { all, el, focusIn, segmented } from "../lib/dom.js";
import { csv, exportBar, fileName, save } from "../lib/export.js";
import { projecting } from "../lib/keys.js";
import { onLang, roles, t } from "../lib/lang.js";
import { knobsOf, slider } from "../lib/knobs.js";
import { headOf, pictureOf } from "../lib/selection.js";
import { number, plus } from "../lib/signs.js";
import { bus, judge, request, view } from "../lib/state.js";
import { foot } from "../lib/source.js";
import { taking } from "../lib/export_menu.js";
import { inTurn } from "../lib/paint_queue.js";
import { load } from "../lib/modules.js";

const TEXT = {
  title: { en: "What changes if …", zh: "如果……会怎样" },
  changes: { en: "What may be changed", zh: "可以改变什么" },
  restore: { en: "Restore", zh: "复原" },
  from: { en: "{before} → {after}", zh: "{before} → {after}" },
  what: { en: "what", zh: "项目" },
  before: { en: "before", zh: "之前" },
  after: { en: "after", zh: "之后" },
  difference: { en: "difference", zh: "差值" },
  named: { en: "{name} {when}", zh: "{when}的{name}" },
  right: { en: "right", zh: "正确" },
  wrong: { en: "wrong", zh: "错误" },
  nothing: { en: "(nothing)", zh: "（空）" },
};
const MARK = { true: "✓", false: "✗" };
const LONG = 5; // signs of an answer that still stands in a column, beside the knobs too

// How the kinds of knobs that knobs.js draws hold a field, and how a request spells it.
const parts = (text) => (text ? text.split(",").map((one) => one.split(".")) : []);
const RICH = {
  range: { read: Number, write: String, drawn: ({ knob }) => knob },
  spans: {
    read: (text) => parts(text).map((one) => one.map((part) => Number(part.replace("%2E", ".")))),
    write: (spans) =>
      spans.map((one) => one.map((part) => String(part).replace(".", "%2E")).join(".")).join(","),
    drawn: ({ knob }) => knob,
  },
  stops: {
    read: Number,
    write: String,
    drawn: ({ names }) => ({
      stops: names.map(([value, label]) => ({ value: Number(value), label })),
      other: { en: "{n}", zh: "{n}" },
    }),
  },
  heads: {
    read: (text) => parts(text).map((one) => one.map((part, at) => (at ? Number(part) : part))),
    write: (heads) => heads.map((one) => one.join(".")).join(","),
    drawn: ({ names, sizes }) => ({
      models: Object.fromEntries(
        names.map((
          [model, name],
        ) => [model, { name, layers: sizes[model][0], heads: sizes[model][1] }]),
      ),
    }),
  },
};

/** What a change does as a picture on the stage, whose module comes when it is first needed. */
function pictured(path) {
  const address = new URL(path, location.origin).href;
  const texts = {};
  const node = el("div", { class: "tfe-change-picture", hidden: true });
  let [value, stand, picture] = [null, null, null];
  return {
    node,
    async set(next) {
      if (next === value) return;
      value = next;
      stand?.stop();
      if (!next) return;
      picture = pictureOf(await load(address));
      const run = await picture.read(next, { texts });
      if (next !== value) return; // a newer one has come meanwhile
      if (!stand) {
        stand = board(node, picture, {
          texts,
          store: view,
          menu: [
            taking(
              () => stand,
              { picture, root: node, name: "change", address, texts },
              () => value,
            ),
          ],
        });
        view.on(Object.keys(picture.looks), () => stand.update());
      }
      stand.show(run);
      if (view.get("change_table") !== null) stand.table(true); // as links of former days have it
    },
    unlock(target) {
      const held = node.contains(target)
        ? (picture.resets ?? Object.keys(picture.looks)).filter((key) => view.get(key) !== null)
        : [];
      view.set(Object.fromEntries(held.map((key) => [key, null])));
      if (held.length) stand.update();
      return held.length > 0;
    },
  };
}

/**
 * props and value: see change.py.
 * @param {import("../border.d.ts").ChangePanelProps & {value?: any}} props
 */
export function mount(root, props, _emit, watch) {
  let value = props.value ?? { state: "empty" };
  let fields = { ...value.fields }; // as the knobs stand, ahead of the answer
  let waiting = false; // for the answer to a wish of the knobs
  let elsewhere = false; // another input is being answered
  let cut = false; // was what is waited for abandoned?

  const spans = props.controls.find(({ knob }) => knob?.kind === "spans")?.knob ??
    { layers: Infinity, heads: Infinity };
  function there(layer, head) {
    return layer >= 0 && head >= 0 && layer < spans.layers && head < spans.heads;
  }
  const scope = {
    get: () => (["layer", "head"].includes(view.get("change_of")) ? view.get("change_of") : "all"),
    set: (key) => view.set({ change_of: key === "all" ? null : key }),
  };

  const title = el("h2", { class: "tfe-title" });
  const restoreText = el("span", {});
  const restore = el(
    "button",
    { type: "button", class: "tfe-button small tfe-change-restore", onclick: reset },
    restoreText,
    el("kbd", { text: "Esc" }),
  );
  const kindOf = (control) => control.knob?.kind ?? control.kind;
  /** @param {any} control */
  const shownFor = ({ when }) => JSON.stringify(when);
  const knobs = [...new Set(props.controls.map(shownFor))].flatMap((key, at) => {
    const group = props.controls.filter((control) => shownFor(control) === key); // they stand there together
    const rich = riches(group.filter((control) => kindOf(control) in RICH), at);
    const plain = { switch: toggle, choice: toggle, items, select: menu };
    return group.map((control) =>
      Object.assign(rich.get(control) ?? (plain[control.kind] ?? numbered)(control), { control })
    );
  });
  knobs.sort((a, b) => props.controls.indexOf(a.control) - props.controls.indexOf(b.control));
  const group = el(
    "div",
    { class: "tfe-change-knobs", role: "group" },
    ...knobs.flatMap((knob) => knob.nodes),
  );
  const error = el("p", { class: "tfe-error tfe-change-error", role: "alert", hidden: true });
  const big = el("strong", { class: "tfe-number tfe-change-number" });
  const unit = el("span", { class: "tfe-change-unit" });
  const from = el("span", { class: "tfe-change-from" });
  const table = el("table", { class: "tfe-table tfe-change-table" });
  const sentence = el("p", { class: "tfe-words tfe-change-sentence", "aria-live": "polite" });
  const shown = el(
    "div",
    { class: "tfe-change-shown" },
    el(
      "p",
      { class: "tfe-change-headline" },
      big,
      el("span", { class: "tfe-change-what" }, unit, from),
    ),
    table,
    sentence,
  );
  const result = el(
    "div",
    { class: "tfe-change-result", hidden: true },
    shown,
    exportBar({
      TXT: saveLines,
      CSV: () => save(fileName(["what-if"], "csv"), csv(columns()), "text/csv"),
    }),
  );
  // By the part of a value that each draws.
  const shows = Object.fromEntries(
    Object.entries(props.pictures).map(([part, path]) => [part, pictured(path)]),
  );
  const panel = el(
    "section",
    { class: `tfe-panel tfe-change-panel${props.across ? " is-across" : ""}` },
    el("div", { class: "tfe-row tight apart" }, title, restore),
    group,
    error,
    result,
  );
  root.replaceChildren(panel);

  // ── knobs ──
  function ask(set) {
    if (elsewhere || !value.fields) return;
    fields = { ...fields, ...set };
    drawKnobs();
    bus.fire("wish", { query: value.query, set, changes: true });
  }

  const stands = ({ when }) =>
    Object.entries(when).every(([field, values]) => values.includes(fields[field]));
  const changed = () =>
    props.controls.some(({ field, default: neutral }) =>
      (value.fields?.[field] ?? neutral) !== neutral
    );

  /** Everything as trained; without a link for that, field by field. */
  function reset() {
    const neutral = Object.fromEntries(
      props.controls.map((control) => [control.field, control.default]),
    );
    bus.fire(
      "wish",
      value.plain
        ? { query: value.plain, changes: true }
        : { query: "", set: neutral, changes: true },
    );
  }

  /**
   * The head in view, [layer, head] from 0: the address says "2.3" counted from 1; mean and max are
   * no single head. Where it says nothing, every picture shows the head of arrival, of whichever
   * attention.
   */
  function looked() {
    return [view.get("head"), value.pick?.head ?? null]
      .filter((text) => /^\d+\.\d+$/.test(text ?? ""))
      .map((text) => headOf(text).map((n) => n - 1))
      .find(([layer, head]) => there(layer, head)) ?? [0, 0];
  }

  /**
   * The model (or kind of attention) in view, of those whose heads may be silenced, and the head in
   * view.
   */
  /** @returns {() => any} */
  function watched(models) {
    const names = ["model", "kind", "pattern"]; // as the address calls it
    return () => [
      [
        ...names.map((name) => view.get(name)),
        ...names.map((name) => value.pick?.[name]),
        ...Object.keys(models),
      ].find((key) => key in models),
      ...looked(),
    ];
  }

  /**
   * Knobs of several parts, drawn by knobs.js, by their controls: where one is bounded by another,
   * both move.
   */
  function riches(controls, number) {
    const by = Object.fromEntries(
      controls.map((control) => [control.field, RICH[kindOf(control)]]),
    );
    const spelled = controls.map((control) => ({
      kind: kindOf(control),
      field: control.field,
      label: control.label,
      neutral: by[control.field].read(control.default),
      ...by[control.field].drawn(control),
    }));
    const { models } = spelled.find(({ kind }) => kind === "heads") ?? {};
    let shut = true;
    const own = knobsOf(spelled, {
      ask: (patch) =>
        ask(
          Object.fromEntries(
            Object.entries(patch).map(([field, now]) => [field, by[field].write(now)]),
          ),
        ),
      shut: () => shut,
      panel: `change${number || ""}`, // of one field there may be a knob in two groups
      looked,
      watched: watched(models),
      scope,
    });
    const draw = (off) => {
      shut = off;
      own.draw({
        ...fields,
        ...Object.fromEntries(
          controls.map((
            control,
          ) => [control.field, by[control.field].read(fields[control.field] ?? control.default)]),
        ),
      });
    };
    return new Map(
      controls.map((
        control,
        at,
      ) => [control, {
        nodes: [own.nodes[at]],
        ...(at ? { draw() {} } : { draw, silence: own.toggle }),
      }]),
    );
  }

  const idleWhy = ({ idle }) => (idle &&
      fields[idle[0]] !== props.controls.find(({ field }) => field === idle[0])?.default
    ? t(idle[1])
    : "");

  /** A slider; where the default stands for a number of its own, the slider shows that one. */
  function numbered(control) {
    const { field, least, most, step } = control;
    const names = new Map(control.names);
    const digits = (String(step).split(".")[1] ?? "").length;
    const standing = () => control.stands?.[1][fields[control.stands[0]]];
    const shownAs = (
      text,
    ) => (text === control.default && standing() !== undefined
      ? standing()
      : Number(text ?? control.default));
    const written = (at) => (at === standing() ? control.default : String(at));
    const called = (
      name,
      at,
    ) => (name ? t(name) : least < 0 ? plus(at, digits) : at.toFixed(digits));
    const { input, label, output, paint } = slider(field, {
      least,
      last: most,
      step,
      panel: "change",
      asked: (at) => ask({ [field]: written(at) }),
      said: (at) => [called(names.get(written(at)), at)],
    });
    return {
      nodes: [label, input, output],
      draw(off) {
        const why = idleWhy(control);
        label.textContent = t(control.label);
        label.classList.toggle("is-idle", why !== "");
        input.value = String(shownAs(fields[field]));
        input.disabled = off || why !== "";
        input.title = why;
        paint();
      },
    };
  }

  /** One of a few, each with a button. */
  function toggle(control) {
    const keys = control.kind === "switch" ? ["1", "0"] : control.values;
    const pick = segmented({
      options: [],
      value: control.default,
      label: "",
      onPick: (key) => ask({ [control.field]: key }),
    });
    const names = new Map(control.names);
    const label = el("span", { class: "tfe-label" });
    return {
      nodes: [
        el("div", { class: "tfe-change-told", "data-knob": control.field }, label, pick.node),
      ],
      draw(off) {
        label.textContent = t(control.label);
        pick.set({
          label: t(control.label),
          value: fields[control.field] ?? control.default,
          options: keys.map((key) => ({ key, label: t(names.get(key)) || key })),
        });
        for (const button of all(pick.node, "button")) {
          button.toggleAttribute("disabled", Boolean(off));
        }
      },
    };
  }

  /** One of some, in a menu. */
  function menu(control) {
    const names = new Map(control.names);
    const label = el("span", { class: "tfe-label" });
    const input = el("select", {
      class: "tfe-select",
      onchange: () => ask({ [control.field]: control.values[input.selectedIndex] }),
    });
    const node = el(
      "label",
      { class: "tfe-change-told", "data-knob": control.field },
      label,
      input,
    );
    return {
      nodes: [node],
      draw(off) {
        label.textContent = t(control.label);
        const said = control.values.map((key) => t(names.get(key)) || key);
        input.replaceChildren(...said.map((text) => el("option", { text })));
        input.selectedIndex = control.values.indexOf(fields[control.field] ?? control.default);
        input.disabled = off;
      },
    };
  }

  /**
   * Any of some, each with a chip; struck out where it is chosen. What there is may be the run's
   * affair.
   */
  function items(control) {
    const label = el("span", { class: "tfe-label" });
    const chips = el("div", { class: "tfe-change-items", role: "group" });
    const note = el("p", { class: "tfe-note" });
    const chosen = () => (fields[control.field] || "").split(",").filter(Boolean);
    const offered = () =>
      value.items?.[control.field] ??
        control.names.map(([key, name]) => ({ value: key, label: t(name) }));
    // In their own order, whichever was chosen first: one state of the page has one address.
    const turn = (key) =>
      ask({
        [control.field]: offered().flatMap((
          one,
        ) => ((one.value === key) !== chosen().includes(one.value) ? [one.value] : [])).join(","),
      });
    return {
      nodes: [
        el(
          "div",
          {
            class: `tfe-change-several${control.kept ? " is-kept" : ""}`,
            "data-knob": control.field,
          },
          label,
          chips,
          note,
        ),
      ],
      draw(off) {
        const had = focusIn(chips)?.dataset.key ?? null;
        const now = chosen();
        label.textContent = t(control.label);
        chips.setAttribute("aria-label", t(control.label));
        chips.replaceChildren(
          ...offered().map(({ value: key, label: name, inner }) =>
            el(
              "button",
              {
                type: "button",
                class: `tfe-chip tfe-change-item${inner ? " is-inner" : ""}`,
                "data-key": key,
                "aria-pressed": String(now.includes(key)),
                disabled: off,
                onclick: () => turn(key),
              },
              el("bdi", { text: name }),
              control.names.length
                ? ""
                : el("span", { class: "tfe-change-index", text: `·${key.split(".")[0]}` }),
            )
          ),
        );
        if (had !== null) {
          chips.querySelector(`[data-key="${CSS.escape(had)}"]`)?.focus({ preventScroll: true });
        }
        note.textContent = now.flatMap((key) => (control.notes[key] ? [t(control.notes[key])] : []))
          .join(" ");
        note.hidden = !note.textContent;
      },
    };
  }

  function drawKnobs() {
    judge({
      change_of: (text) => Number.isFinite(spans.layers) && ["layer", "head"].includes(text),
    }, request.get());
    for (const knob of knobs) {
      knob.draw(elsewhere || !value.fields);
      for (const node of knob.nodes) node.hidden = !stands(knob.control);
    }
    panel.hidden = !props.controls.some(stands);
  }

  // ── drawing ──
  const written = (text) => t(text) || t(TEXT.nothing);
  const difference = ({ before, after, scale, digits }) => plus((after - before) * scale, digits);
  const cells = (row) =>
    row.verdict ? [written(row.before), written(row.after), t(row.verdict)] : [
      number(row.before * row.scale, row.digits),
      number(row.after * row.scale, row.digits),
      difference(row),
    ];
  const rows = () => value.rows.filter((row) => row.name);

  /**
   * An answer before (0) or after (1) with its mark; of two as long as each other, the signs that
   * became others are set off.
   */
  function marked(row, at) {
    const [was, is] = cells(row).slice(0, 2).map((text) => [...text]);
    const compared = at === 1 && was.length === is.length && typeof row.before === "string" &&
      typeof row.after === "string";
    const signs = compared
      ? is.map((
        sign,
        place,
      ) => (sign === was[place] ? sign : el("u", { class: "is-changed", text: sign })))
      : [cells(row)[at]];
    if (!row.right) return signs;
    return [
      ...signs,
      " ",
      el("span", {
        class: row.right[at] ? "is-right" : "is-wrong",
        role: "img",
        "aria-label": t(row.right[at] ? TEXT.right : TEXT.wrong),
        text: MARK[row.right[at]],
      }),
    ];
  }

  function paintTable() {
    const body = [];
    let head = null;
    const name = (text) => el("th", { scope: "row", text });
    for (const row of rows()) {
      if (t(row.head) !== head) {
        head = t(row.head);
        body.push(
          el(
            "tr",
            { class: "tfe-change-head" },
            el("th", { scope: "colgroup", colspan: "4", text: head }),
          ),
        );
      }
      const [was, is, by] = cells(row);
      const ended = (span) =>
        el("td", {
          class: `is-difference ${row.kind ? `is-${row.kind}` : ""}`,
          colspan: span,
          text: by,
        });
      if (!row.verdict) {
        body.push(el(
          "tr",
          {},
          name(t(row.name)),
          ...[was, is].map((text) => el("td", { text })),
          ended(null),
        ));
      } else if (Math.max(was.length, is.length) <= LONG) {
        body.push(el(
          "tr",
          {},
          name(t(row.name)),
          ...[0, 1].map((at) => el("td", { class: "is-answer" }, ...marked(row, at))),
          ended(null),
        ));
      } else {
        // Answers that are long have a line each.
        for (const [at, when] of [TEXT.before, TEXT.after].entries()) {
          body.push(
            el(
              "tr",
              {},
              name(t(TEXT.named, { name: t(row.name), when: t(when) })),
              el("td", { class: "is-answer is-long", colspan: "3" }, ...marked(row, at)),
            ),
          );
        }
        body.push(el("tr", {}, name(t(TEXT.difference)), ended("3")));
      }
    }
    const columns = ["before", "after", "difference"].map((key) =>
      el("th", { scope: "col", text: t(TEXT[key]) })
    );
    table.replaceChildren(
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, el("span", { class: "tfe-unseen", text: t(TEXT.what) })),
          ...columns,
        ),
      ),
      el("tbody", {}, ...body),
    );
  }

  function paintState() {
    panel.setAttribute("aria-label", t(TEXT.title));
    title.textContent = t(TEXT.title);
    group.setAttribute("aria-label", t(TEXT.changes));
    panel.classList.toggle("is-stale", waiting);
    panel.setAttribute("aria-busy", String(waiting));
    bus.fire("changing", { by: "change", state: waiting ? "running" : null });
    error.hidden = value.state !== "refused" || !value.error;
    error.textContent = error.hidden ? "" : t(value.error);
    restore.hidden = !changed();
    restoreText.textContent = t(TEXT.restore);
    const kind = Object.keys(shows).find((key) => value[key]);
    const part = shows[kind]?.node ?? result;
    if (!part.isConnected) panel.lastChild.replaceWith(part);
    part.hidden = value.state !== "done";
    root.dataset.drawn = value.state;
    for (const [key, one] of Object.entries(shows)) {
      one.set(key === kind && !part.hidden ? value : null);
    }
    if (part.hidden || part !== result) return;
    const { scale, digits, suffix, before, after } = value.number;
    const said = (of) => `${number(of * scale, digits)}${suffix}`;
    big.textContent = difference(value.number);
    unit.textContent = t(value.unit);
    from.textContent = t(TEXT.from, { before: said(before), after: said(after) });
    paintTable();
    sentence.replaceChildren(...nodes(roles(value.sentence)));
  }

  // ── export ──
  function saveLines() {
    const said = (row) =>
      `${t(row.head)}, ${t(row.name)}: ${cells(row)[0]} → ${cells(row)[1]} (${cells(row)[2]})`;
    const all = [
      `${big.textContent} ${unit.textContent}, ${from.textContent}`,
      ...rows().map(said),
      sentence.textContent,
      foot(),
    ];
    save(fileName(["what-if"], "txt"), `${all.join("\n")}\n`, "text/plain");
  }

  /** The numbers as they came, not rounded. */
  function columns() {
    const found = [["what", "before", "after", "difference"]];
    for (const { key, before, after, verdict, right } of value.rows) {
      found.push(verdict ? [key, t(before), t(after), ""] : [key, before, after, after - before]);
      if (right) found.push(["right", ...right.map(Number), right[1] - right[0]]);
    }
    return found;
  }

  function draw() {
    drawKnobs();
    paintState();
  }

  // ── wiring ──
  watch("value", () => {
    const next = props.value ?? { state: "empty" };
    waiting = next.state === "running";
    if (waiting) value = { ...value, query: next.query, plain: next.plain, fields: next.fields };
    else if (next.state === "refused") {
      value = { ...value, state: next.error ? "refused" : value.state, error: next.error };
    } else value = next;
    fields = { ...value.fields }; // after a refusal, too, the knobs stand as what is shown
    draw();
  });
  panel.addEventListener("keydown", (event) => {
    const unlocks = () =>
      Object.keys(props.pictures).some((part) => shows[part].unlock(event.target));
    if (event.key === "Escape" && !projecting() && unlocks()) event.preventDefault(); // the change stays
  });
  view.on(["head", "model", "kind", "pattern", "change_of"], () => inTurn(drawKnobs));
  bus.on("restore", () => changed() && reset());
  bus.on("silence", ({ model, kind, layer, head }) => {
    for (const knob of elsewhere || !value.fields ? [] : knobs) {
      knob.silence?.([model ?? kind.split(".")[0], layer, head]);
    }
  });
  bus.on("wishing", ({ changes, stopped }) => {
    waiting = Boolean(changes);
    elsewhere = !changes && !stopped;
    if (stopped) fields = { ...value.fields };
    draw();
  });
  bus.on("asking", (yes) => {
    if (yes || !elsewhere) return;
    elsewhere = false;
    draw();
  });
  bus.on("connection", () => {
    const now = standing("ask ask").state === "abandoned";
    if (now === cut || (now && !waiting)) return;
    [cut, waiting] = [now, !now];
    draw();
  });
  onLang(draw);
  draw();
}
