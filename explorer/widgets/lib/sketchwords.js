// What the input of the lab of sparse attention says, and how it says numbers.

export const TEXT = {
  task: { en: "input", zh: "输入" },
  digit: { en: "a digit", zh: "一个数字" },
  text: { en: "a text", zh: "一段文本" },
  readOnly: { en: "Read", zh: "阅读" },
  makeAll: { en: "Make a digit", zh: "生成数字" },
  makeRest: { en: "Make the rest", zh: "生成其余" },
  writeOn: { en: "Write on", zh: "续写" },
  kept: { en: "rows that stay", zh: "保留行数" },
  keptAll: { en: "{of} of {of}: only read", zh: "{of} / {of}：只读" },
  keptNone: { en: "0 of {of}: all is made", zh: "0 / {of}：全部生成" },
  keptSome: { en: "{n} of {of}", zh: "{n} / {of}" },
  keptLong: { en: "The rows above the line stay; the models make those below it", zh: "线以上的行保留；线以下由模型生成" },
  keptPart: { en: "The digit as the models get it: its upper {n} of {of} rows stay", zh: "模型得到的数字：保留上方 {n} 行，共 {of} 行" },
  length: { en: "write", zh: "续写" },
  lengthValue: { en: "{n} characters", zh: "{n} 个字符" },
  lengthLong: { en: "How many characters the models write after the text", zh: "模型在文本之后写多少个字符" },
  temperature: { en: "temperature", zh: "温度" },
  temperatureLong: {
    en: "Temperature {value}: 1 is the model's own distribution, less plays safe, more dares, 0 takes the likeliest every time",
    zh: "温度 {value}：1 是模型自己的分布，越低越保守，越高越大胆，0 每次取最可能的",
  },
  seed: { en: "seed", zh: "种子" },
  seedLong: { en: "Seed of all draws: the same seed makes the same", zh: "所有抽样的种子：同一种子得到同样的结果" },
  examples: { en: "examples", zh: "示例" },
  example: { en: "Example {n}: {title}", zh: "示例 {n}：{title}" },
  stop: { en: "Stop", zh: "停止" },
  atDigit: { en: "live · pixel {at} of {of}{device}", zh: "实时 · 第 {at} / {of} 像素{device}" },
  atText: { en: "live · character {at} of {of}{device}", zh: "实时 · 第 {at} / {of} 字符{device}" },
  ours: { en: "Held-out digits, which no model has learned from", zh: "留出的数字，没有模型用它们学习过" },
  ourOne: { en: "Digit {n}: {name}", zh: "数字 {n}：{name}" },
  own: { en: "Your digit", zh: "您的数字" },
  upload: { en: "Upload …", zh: "上传……" },
  uploadLong: { en: "Upload a PNG, JPEG or WebP picture of up to {mb} MB; dropping or pasting one works too", zh: "上传 PNG、JPEG 或 WebP 图片，至多 {mb} MB；也可拖放或粘贴" },
  drop: { en: "or drop or paste a PNG, JPEG or WebP", zh: "也可拖放或粘贴 PNG、JPEG、WebP" },
  dropHere: { en: "Drop the picture here", zh: "把图片放在这里" },
  readingFile: { en: "Reading …", zh: "正在读……" },
  draw: { en: "Draw", zh: "手绘" },
  padTitle: { en: "Draw a digit; what lies below the line is the models'", zh: "画一个数字；线以下归模型" },
  padNote: {
    en: "Greys become pixels as in the data: each is drawn once, white with the probability of its grey.",
    zh: "灰度变成像素的方式与数据相同：每个像素抽取一次，为白的概率就是它的灰度。",
  },
  fitted: {
    en: "It was made as large as the digits that were learned from (20 pixels) and centred.",
    zh: "它已缩小到与学过的数字一样大（20 像素）并居中。",
  },
  once: { en: "Each grey became a pixel, drawn once.", zh: "每个灰度抽取一次，变成像素。" },
  unread: { en: "The picture did not reach the server; it can be sent again.", zh: "图片没有送达服务器；可以再次发送。" },
  heavy: { en: "Your file has {mb} MB; pictures of up to {most} MB are read.", zh: "您的文件有 {mb} MB；最多读 {most} MB 的图片。" },
  noFile: { en: "What was dropped is no file; PNG, JPEG and WebP pictures are read.", zh: "放下的不是文件；可读 PNG、JPEG 和 WebP 图片。" },
  blank: {
    en: "Nothing is drawn yet: a few strokes above the line are enough, or let 0 rows stay.",
    zh: "还什么都没有画：在线的上方画几笔就够了，或者保留 0 行。",
  },
  below: {
    en: "Nothing is drawn yet in the {n} rows that stay: draw above the line, or let more rows stay.",
    zh: "保留的 {n} 行里还什么都没有画：请画在线的上方，或保留更多行。",
  },
  nothing: { en: "The box is empty and 0 characters are to be written: type a text, or let some be written.", zh: "文本框是空的，也不续写：请输入文本，或续写一些字符。" },
  long: {
    en: "The text has {n} characters and {made} are to be written; {most} together are the most.",
    zh: "文本有 {n} 个字符，还要续写 {made} 个；合计最多 {most} 个。",
  },
  count: { en: "{n} given + {made} to write, of {most}", zh: "给定 {n} + 续写 {made}，至多 {most}" },
  keys: { en: "{keys} reads; Enter alone begins a new line", zh: "{keys} 开始；单按 Enter 换行" },
  noLink: { en: "This text is too long for a link; save the view as a file instead.", zh: "这段文本太长，放不进链接；请把视图存为文件。" },
};

/** Characters as the models count them, code points. */
export const lengthOf = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

export const megabytes = (bytes) => (Math.ceil((bytes / 2 ** 20) * 10) / 10).toFixed(1);

/** A text in both languages with its {names} replaced. */
export const filledIn = (text, values) => Object.fromEntries(Object.entries(text).map(([language, raw]) => [language, raw.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? values[key] : whole))]));

/** Several remarks {en, zh} as one. */
export const joined = (...texts) => {
  const said = texts.filter(Boolean);
  return said.length ? { en: said.map((each) => each.en).join(" "), zh: said.map((each) => each.zh).join("") } : null;
};
