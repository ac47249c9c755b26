// What is said of a picture in the input bar, and how numbers are said.

export const TEXT = {
  upload: { en: "Upload …", zh: "上传……" },
  uploadLong: {
    en: "Upload a PNG, JPEG or WebP picture of up to {mb} MB; dropping or pasting one works too",
    zh: "上传 PNG、JPEG 或 WebP 图片，至多 {mb} MB；也可拖放或粘贴",
  },
  drop: { en: "or drop or paste a PNG, JPEG or WebP", zh: "也可拖放或粘贴 PNG、JPEG、WebP" },
  dropHere: { en: "Drop the picture here", zh: "把图片放在这里" },
  readingFile: { en: "Reading …", zh: "正在读……" },
  draw: { en: "Draw", zh: "手绘" },
  unread: {
    en: "The picture did not reach the server; it can be sent again.",
    zh: "图片没有送达服务器；可以再次发送。",
  },
  heavy: {
    en: "Your file has {mb} MB; pictures of up to {most} MB are read.",
    zh: "您的文件有 {mb} MB；最多读 {most} MB 的图片。",
  },
  noFile: {
    en: "You did not drop a file; PNG, JPEG and WebP pictures can be read.",
    zh: "放下的不是文件；可读 PNG、JPEG 和 WebP 图片。",
  },
  below: {
    en:
      "Nothing is drawn yet in the {n} rows that stay: draw above the line, or let more rows stay.",
    zh: "保留的 {n} 行里还什么都没有画：请画在线的上方，或保留更多行。",
  },
};

const DIGIT = {
  ...TEXT,
  readOnly: { en: "Read", zh: "阅读" },
  makeAll: { en: "Make a digit", zh: "生成数字" },
  makeRest: { en: "Make the rest", zh: "生成其余" },
  part: {
    en: "The digit as the models get it: its upper {n} of {of} rows stay",
    zh: "模型得到的数字：保留上方 {n} 行，共 {of} 行",
  },
  ours: {
    en: "Held-out digits, which no model has learned from",
    zh: "留出的数字，没有模型用它们学习过",
  },
  ourOne: { en: "Digit {n}: {name}", zh: "数字 {n}：{name}" },
  own: { en: "Your digit", zh: "您的数字" },
  padTitle: {
    en: "Draw a digit; the models draw the part below the line",
    zh: "画一个数字；线以下归模型",
  },
  padNote: {
    en:
      "Greys become pixels as in the data: each is drawn once, white with the probability of its " +
      "grey.",
    zh: "灰度变成像素的方式与数据相同：每个像素抽取一次，为白的概率就是它的灰度。",
  },
  fitted: {
    en: "It was shrunk to the size of the digits that were learned from (20 pixels) and centred.",
    zh: "它已缩小到与学过的数字一样大（20 像素）并居中。",
  },
  once: { en: "Each grey became a pixel, drawn once.", zh: "每个灰度抽取一次，变成像素。" },
  blank: {
    en: "Nothing is drawn yet: a few strokes above the line are enough, or let 0 rows stay.",
    zh: "还什么都没有画：在线的上方画几笔就够了，或者保留 0 行。",
  },
};

const PICTURE = {
  ...TEXT,
  makeRest: { en: "Complete", zh: "补完" },
  part: {
    en: "The picture as the models get it: its upper {n} of {of} rows stay",
    zh: "模型得到的图片：保留上方 {n} 行，共 {of} 行",
  },
  ours: {
    en: "Held-out pictures, which no model has learned from",
    zh: "留出的图片，没有模型用它们学习过",
  },
  ourOne: { en: "Picture {n}: {name}", zh: "图片 {n}：{name}" },
  own: { en: "Your picture", zh: "您的图片" },
  padTitle: {
    en: "Draw the upper part; the models make the rest",
    zh: "画出上半部分，其余由模型来画",
  },
  padNote: null,
  blank: {
    en: "Your drawing is empty; a few strokes above the line are enough.",
    zh: "您的画还是空的；在线的上方画几笔就够了。",
  },
};

const COLOURED = {
  ...PICTURE,
  readOnly: { en: "Enlarge", zh: "放大" },
  part: {
    en: "The picture to begin with, and reduced to {n} × {n} pixels",
    zh: "起始图片，以及缩小到 {n} × {n} 像素的样子",
  },
};

// A picture of which nothing is left out, and nothing is made.
const WHOLE = {
  ...PICTURE,
  part: { en: "The picture as it goes in", zh: "输入的图片" },
  ours: { en: "Pictures to begin with", zh: "起始图片" },
  padTitle: { en: "Draw a picture", zh: "画一幅图" },
  blank: {
    en: "Your drawing is empty; a few strokes are enough.",
    zh: "您的画还是空的；画几笔就够了。",
  },
};

/** The words for pictures of one kind, as controls.py draws them. */
export const wordsOf = (
  { ink, small, rows },
) => (ink ? DIGIT : small ? COLOURED : rows ? PICTURE : WHOLE);

export const megabytes = (bytes) => (Math.ceil((bytes / 2 ** 20) * 10) / 10).toFixed(1);

/** Several remarks {en, zh} as one. */
export const joined = (...texts) => {
  const said = texts.filter(Boolean);
  return said.length
    ? { en: said.map((each) => each.en).join(" "), zh: said.map((each) => each.zh).join("") }
    : null;
};
