// Mounts the components of a bench page (tests/bench.py) as Gradio mounts them, and carries their events.

const { path, layout, parts, events } = JSON.parse(document.getElementById("page").textContent);
const session = Math.random().toString(36).slice(2);
const setters = new Map(); // component -> function that gives it a value

/** An event of a component: every handler of it is asked, and what it says goes to its outputs, line by line. */
function trigger(id, event, detail) {
  for (const { number, targets, outputs } of events) {
    if (targets.some(([target, name]) => target === id && name === event)) {
      ask(number, outputs, detail);
    }
  }
}

async function ask(number, outputs, detail) {
  const body = JSON.stringify({ detail, session });
  const answer = await fetch(`${path}/queue/join/${number}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (text + read.value).split("\n");
    text = lines.pop();
    for (const line of lines) JSON.parse(line).forEach((value, at) => give(outputs[at], value));
  }
}

function give(id, update) {
  if (update?.__type__ !== "update") setters.get(id)(update);
  else if ("value" in update) setters.get(id)(update.value);
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function box(tag, classes, { elem_id: id, elem_classes: more = [] }) {
  const node = document.createElement(tag);
  if (id) node.id = id;
  node.className = [...classes, "on-bench", ...(more ?? [])].join(" ");
  return node;
}

const KINDS = {
  html(id, props) {
    const node = box("div", ["block"], props);
    const holder = document.createElement("div");
    holder.className = "html-container";
    const element = document.createElement("div");
    element.className = (props.elem_classes ?? []).join(" ");
    element.innerHTML = props.html_template;
    node.append(holder);
    holder.append(element);
    const given = { value: props.value ?? "", ...props.props };
    const watching = [];
    const watch = (names, changed) => watching.push([[names].flat(), changed]);
    // Once it stands in the page, as in Gradio: widgets measure where they are.
    const mount = () =>
      Function("element", "trigger", "props", "server", "upload", "watch", props.js_on_load)(
        element,
        (event, detail = {}) => trigger(id, event, detail),
        given,
        {},
        null,
        watch,
      );
    setters.set(id, (update) => {
      const value = update ?? "";
      if (same(given.value, value)) return;
      given.value = value;
      queueMicrotask(() => {
        for (const [names, changed] of watching) {
          try {
            if (names.includes("value")) changed();
          } catch (error) {
            console.error("Error in watch callback:", error);
          }
        }
      });
    });
    return { node, mount };
  },
  button(id, props) {
    const node = box("button", ["lg", "secondary"], props);
    node.textContent = props.value;
    node.addEventListener("click", () => trigger(id, "click", null));
    return { node };
  },
  textbox(id, props) {
    const node = box("div", ["block"], props);
    const area = document.createElement("textarea");
    area.setAttribute("aria-label", props.label);
    area.value = props.value ?? "";
    node.append(area);
    setters.set(id, (value) => (area.value = value ?? ""));
    return { node };
  },
  column: (_id, props) => ({ node: box("div", ["column"], props) }),
  form: (_id, props) => ({ node: box("div", ["form"], props) }),
  row: (_id, props) => ({ node: box("div", ["row"], props) }),
  navbar: () => ({ node: document.createElement("i") }),
};

const mounts = [];
function placed(children) {
  return (children ?? []).map(({ id, children: inside }) => {
    const { type, props } = parts[id];
    const { node, mount } = KINDS[type](id, props);
    node.append(...placed(inside));
    if (mount) mounts.push(mount);
    return node;
  });
}
const outer = box("div", ["column"], {});
outer.append(...placed(layout.children));
document.querySelector("main").append(outer);
for (const mount of mounts) mount();
