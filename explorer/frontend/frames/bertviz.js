// Stands between bertviz's script and the page around the frame. bertviz asks require.js for its
// libraries: they are here already.
window.requirejs = (_names, draw) => {
  window.bertviz = () => draw(window.jQuery, window.d3);
  start();
};
window.bertviz_params = JSON.parse(document.getElementById("parameters").textContent);

const params = window.bertviz_params;
const kind = document.body.className;
const by = (id) => document.getElementById(id);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
let zh = false;

function start() {
  const [theme, lang] = decodeURIComponent(location.hash.slice(1)).split(",");
  if (theme === "dark") params.display_mode = "dark";
  window.bertviz();
  unbind();
  by("filter").addEventListener("change", again);
  look(theme, lang);
  new MutationObserver(finish).observe(by("vis"), { childList: true });
  addEventListener("message", (event) => {
    if (event.source === parent && event.data && typeof event.data === "object") {
      look(event.data.theme, event.data.lang);
    }
  });
  finish();
}

/**
 * What bertviz fixes when it starts (theme, whether the future is hidden, sizes) is fixed anew: it
 * starts again where we are.
 */
function again() {
  params.default_filter = by("filter").value;
  if (kind === "neuron") {
    params.bidirectional = !params.attention[params.default_filter].causal;
    params.layer = Number(by("layer").value);
    params.head = Number(by("att_head").value);
  } else if (kind === "head") {
    params.layer = Number(by("layer").value);
    by("layer").replaceChildren();
  }
  for (const id of ["layer", "att_head"]) if (by(id)) window.jQuery(by(id)).off();
  window.bertviz();
  unbind();
}

function unbind() {
  window.jQuery(by("filter")).off();
  // bertviz numbers the choices of this view from 0; the page around it, and the other two views,
  // from 1.
  if (kind === "neuron") {
    for (const option of all("#layer option, #att_head option")) {
      option.textContent = String(Number(option.value) + 1);
    }
  }
}

function look(theme, lang) {
  if (lang === "en" || lang === "zh") {
    zh = lang === "zh";
    document.documentElement.lang = zh ? "zh-CN" : "en";
    for (const node of all("[data-en]")) node.textContent = zh ? node.dataset.zh : node.dataset.en;
  }
  if (theme === "light" || theme === "dark") {
    document.documentElement.classList.toggle("dark", theme === "dark");
    if (params.display_mode !== theme) {
      params.display_mode = theme;
      if (kind !== "head") return again(); // the head view has no theme of its own: our style sheet is enough
    }
  }
  return finish();
}

const WORDS = {
  Heads: "头",
  Layers: "层",
  "Query ": "查询 ",
  "Key ": "键 ",
  "q × k (elementwise)": "q × k（逐元素）",
  "No token selected": "未选择词元",
};
const LATIN = Object.fromEntries(Object.entries(WORDS).map(([en, other]) => [other, en]));

/** bertviz's own headings, which are never tokens, in the visitor's language. */
function translate() {
  for (const node of all("#vis > svg > text:not(.detail), #heading tspan, #placeholder")) {
    node.textContent = (zh ? WORDS : LATIN)[node.textContent] ?? node.textContent;
  }
  for (const node of all("#vis > svg > text.detail")) {
    const [layer, head] = node.textContent.match(/\d+/g);
    node.textContent = zh ? `第 ${layer} 层，第 ${head} 头` : `Layer ${layer}, Head ${head}`;
  }
}

/**
 * After every drawing: room for all of it, words, keys, and its size for the page around the frame.
 */
function finish() {
  const drawing = document.querySelector("#vis > svg");
  if (!drawing) return;
  const box = drawing.getBBox();
  Object.assign(drawing.style, {
    marginLeft: `${Math.ceil(Math.max(0, -box.x))}px`,
    minWidth: `${Math.ceil(box.x + box.width)}px`,
    minHeight: `${Math.ceil(box.y + box.height + 4)}px`,
  });
  translate();
  reach();
  const root = document.documentElement;
  const size = {
    width: root.scrollWidth,
    height: Math.ceil(document.body.getBoundingClientRect().height),
  };
  if (parent !== window) parent.postMessage({ bertviz: size }, "*");
}

const send = (node, type) => node.dispatchEvent(new MouseEvent(type, { bubbles: true }));

/**
 * What bertviz gives to the mouse alone, given to the keyboard: each group is one tab stop, arrows
 * move, Enter presses.
 */
function reach() {
  if (kind === "head") {
    for (const side of ["left", "right"]) {
      const group = document.querySelector(`#vis #${side}`);
      rove(
        all(":scope > g:nth-child(2) > g", group),
        (node) => node.querySelector("text").textContent,
        {
          enter: (node) => send(node, "mouseover"),
          leave: () => group.dispatchEvent(new MouseEvent("mouseleave")),
        },
      );
    }
    const heads = all("#vis > svg > g:last-of-type > rect");
    rove(heads, (node) => `${zh ? "头" : "Head"} ${heads.indexOf(node) + 1}`, {
      press: (node) => send(node, "click"),
    });
  } else if (kind === "model") {
    const tiles = all("#vis > svg > g > rect:last-child")
      .filter((node) => node.parentNode.querySelector(".attn_background"));
    const across = params.total_heads;
    const name = (node) =>
      [Math.floor(tiles.indexOf(node) / across) + 1, (tiles.indexOf(node) % across) + 1].join("·");
    rove(tiles, name, { press: (node) => (send(node, "click"), translate()), across });
    for (const node of tiles) node.addEventListener("click", () => translate());
  } else {
    for (const group of all("#vis #leftText")) {
      rove(all(":scope > g", group), (node) => node.querySelector("text").textContent, {
        enter: (node) => send(node.querySelector("text"), "mouseover"),
        leave: (node) => node.dispatchEvent(new MouseEvent("mouseleave")),
        press: (node, index) => {
          send(node.lastChild, "click"); // unfolds or folds the arithmetic; the token of the other drawing takes the focus
          const other = all("#vis #leftText").find((each) => each !== group);
          other.children[index].focus();
        },
      });
    }
  }
}

function rove(nodes, name, { enter, leave, press, across = 1 }) {
  nodes.forEach((node, index) => {
    if (node.hasAttribute("tabindex")) return;
    node.setAttribute("tabindex", index ? "-1" : "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", name(node));
    node.addEventListener("focus", () => enter?.(node, index));
    node.addEventListener("blur", () => leave?.(node, index));
    node.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
      if (event.key in steps) {
        const next = nodes[Math.min(nodes.length - 1, Math.max(0, index + steps[event.key]))];
        node.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      } else if (press && (event.key === "Enter" || event.key === " ")) press(node, index);
      else return;
      event.preventDefault();
    });
  });
}
