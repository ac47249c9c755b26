// The widget of a picture in a notebook: a page of its own in a frame. The notebook's styles and
// keys do not reach the picture, ours do not reach the notebook, and the page may fetch nothing.

/** Is the notebook dark? JupyterLab and Visual Studio Code say so on their body. */
const isDark = () =>
  document.body.dataset.jpThemeLight === "false" ||
  document.body.classList.contains("vscode-dark");

/** The text of bytes that gzip has compressed. */
const unzip = (bytes) =>
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();

const PATIENCE = 60_000; // ms until a kernel that is silent is taken for gone

/** A function that asks the kernel: question -> {value, bytes}; it rejects where nothing comes. */
function asking(model) {
  const waiting = new Map(); // by the number of the question
  model.on("msg:custom", ({ id, value }, buffers = []) => {
    const bytes = buffers.map(({ buffer, byteOffset, byteLength }) =>
      buffer.slice(byteOffset, byteOffset + byteLength)
    );
    waiting.get(id)?.({ value, bytes: bytes[0] });
    waiting.delete(id);
  });
  return (question) =>
    new Promise((done, fail) => {
      const id = Math.random();
      waiting.set(id, done);
      model.send({ id, ...question });
      setTimeout(() => fail(new Error("the kernel does not answer")), PATIENCE);
    });
}

async function render({ model, el }) {
  const frame = document.createElement("iframe");
  Object.assign(frame.style, { width: "100%", height: "400px", border: "0", display: "block" });
  Object.assign(frame, { ask: asking(model) }); // the page finds it on its frame
  const paint = () => frame.contentDocument?.body?.classList.toggle("dark", isDark());
  // The frame is as high as its page.
  const size = new ResizeObserver(([{ target }]) => {
    frame.style.height = `${Math.ceil(target.getBoundingClientRect().height)}px`;
  });
  const theme = new MutationObserver(paint);
  frame.addEventListener("load", () => {
    paint();
    size.disconnect();
    size.observe(frame.contentDocument.documentElement);
  });
  theme.observe(document.body, { attributes: true });
  frame.srcdoc = await unzip(model.get("page"));
  el.append(frame);
  return () => {
    size.disconnect();
    theme.disconnect();
  };
}

export default { render };
