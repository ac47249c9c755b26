// The little of a browser that modules ask for while they are loaded and called without one:
// elements that hold attributes, classes and children, a history that keeps its addresses, and
// frames that come when a test says so. `deno test` runs each file with a page of its own.

class Classes {
  #names = new Set();
  contains = (name) => this.#names.has(name);
  add = (...names) => names.forEach((name) => this.#names.add(name));
  remove = (...names) => names.forEach((name) => this.#names.delete(name));
  set(text) {
    this.#names = new Set(text.split(/\s+/).filter(Boolean));
  }
  toggle(name, on = !this.contains(name)) {
    if (on) this.add(name);
    else this.remove(name);
    return on;
  }
  toString() {
    return [...this.#names].join(" ");
  }
}

class Node extends EventTarget {
  #text = "";
  #attributes = new Map();
  children = [];
  classList = new Classes();
  dataset = {};
  style = { setProperty: () => {} };
  hidden = false;
  validity = { badInput: false };

  constructor(tag) {
    super();
    this.tagName = tag.toUpperCase();
  }
  get className() {
    return String(this.classList);
  }
  set className(text) {
    this.classList.set(text);
  }
  get childElementCount() {
    return this.children.length;
  }
  get textContent() {
    return this.children.length
      ? this.children.map((one) => one.textContent ?? String(one)).join("")
      : this.#text;
  }
  set textContent(text) {
    this.children = [];
    this.#text = String(text);
  }
  setAttribute(name, text) {
    this.#attributes.set(name, String(text));
    if (name === "class") this.classList.set(String(text));
    if (name === "hidden") this.hidden = true;
    if (name.startsWith("data-")) this.dataset[name.slice(5)] = String(text);
  }
  getAttribute(name) {
    return this.#attributes.get(name) ?? null;
  }
  append(...nodes) {
    this.children.push(...nodes);
  }
  replaceChildren(...nodes) {
    this.children = nodes;
  }
  querySelectorAll() {
    return [];
  }
  focus() {}
}

const frames = [];

Object.assign(globalThis, {
  window: globalThis,
  Element: Node,
  Document: class {},
  MutationObserver: class {
    observe() {}
  },
  devicePixelRatio: 1,
  innerWidth: 1440,
  innerHeight: 900,
  scrollY: 0,
  matchMedia: () => ({ matches: false, addEventListener() {} }),
  getComputedStyle: () => ({
    getPropertyValue: (name) => name.startsWith("--scale") ? " #ffffff #000000 " : ` #00${name} `,
  }),
  requestAnimationFrame: (act) => frames.push(act),
  cancelAnimationFrame: () => {},
  document: Object.assign(new Node("document"), {
    body: new Node("body"),
    documentElement: new Node("html"),
    head: new Node("head"),
    createElement: (tag) => new Node(tag),
    createElementNS: (_, tag) => new Node(tag),
    querySelector: () => null,
  }),
  history: {
    state: null,
    addresses: [],
    replaceState: (_state, _, address) => (history.addresses = [...history.addresses, address]),
    pushState: (_state, _, address) => history.addresses.push(`new ${address}`),
  },
});
sessionStorage.clear();

/** Lets the frames come that were asked for, and those that they ask for, as many times. */
export function passFrames(times = 1) {
  for (let n = 0; n < times; n += 1) {
    for (const act of frames.splice(0)) act(performance.now());
  }
}

/** How many frames have been asked for and have not come. */
export const waitingFrames = () => frames.length;
