// A plugin of `deno lint` that says of each script what tools/scripts.py reads: its code without
// comments, its sentences as one sign and its strings without brackets, and its functions.

const SENTENCE = "\0";
const BRACKETS = /["'`(){}[\]]/g;

const isText = (node) => node.type === "TemplateLiteral" || typeof node.value === "string";

/** Is it a sentence for visitors, {en: "…", zh: "…"}? */
const isSentence = ({ properties }) =>
  properties.length === 2 &&
  properties.every(({ key, value }, at) =>
    key?.name === ["en", "zh"][at] && value && isText(value)
  );

const nameOf = ({ id, parent }) =>
  id?.name ?? parent?.id?.name ?? parent?.key?.name ?? parent?.left?.name ?? "";

function measure(context) {
  const { text } = context.sourceCode;
  const cuts = context.sourceCode.getAllComments().map(({ range }) => [range, ""]);
  const functions = [];
  const lineAt = (at) => text.slice(0, at).split("\n").length;
  const inString = (node) => {
    const [from, to] = node.range;
    const inner = text.slice(from + 1, to - 1).replace(BRACKETS, "x");
    cuts.push([node.range, text[from] + inner + text[to - 1]]);
  };
  const inFunction = (node) => {
    const [from, to] = node.range;
    const lines = text.slice(from, to).split("\n").length;
    functions.push({ name: nameOf(node), line: lineAt(from), lines });
  };
  return {
    FunctionDeclaration: inFunction,
    FunctionExpression: inFunction,
    ArrowFunctionExpression: inFunction,
    TemplateLiteral: inString,
    Literal(node) {
      if (node.regex || typeof node.value === "string") inString(node);
    },
    ObjectExpression(node) {
      if (isSentence(node)) cuts.push([node.range, SENTENCE]);
    },
    "Program:exit"() {
      let [code, end] = ["", 0];
      cuts.sort(([a], [b]) => a[0] - b[0] || b[1] - a[1]);
      for (const [[from, to], mark] of cuts) {
        if (from < end) continue;
        code += text.slice(end, from) + mark;
        end = to;
      }
      const message = JSON.stringify({ code: code + text.slice(end), functions });
      context.report({ range: [0, 0], message });
    },
  };
}

export default { name: "measure", rules: { script: { create: measure } } };
