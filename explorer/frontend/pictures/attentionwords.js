// Every text of an attention beside its sentence; STEPS: what is called otherwise where one block
// is used step after step.

export const TEXT = {
  title: { en: "Attention", zh: "注意力" },
  question: { en: "Who looks at whom?", zh: "谁在看谁？" },
  kinds: { en: "Which attention", zh: "哪种注意力" },
  direction: { en: "Direction", zh: "方向" },
  to: { en: "attends to", zh: "看向" },
  by: { en: "attended by", zh: "被看" },
  near: { en: "Closer", zh: "放大" },
  threshold: { en: "threshold ≥", zh: "阈值 ≥" },
  weight: { en: "weight", zh: "权重" },
  queries: { en: "queries", zh: "查询" },
  keys: { en: "keys", zh: "键" },
  size: { en: "{layers} layers × {heads} heads", zh: "{layers} 层 × {heads} 头" },
  over: { en: "Over all heads", zh: "综合所有的头" },
  mean: { en: "mean", zh: "平均" },
  max: { en: "max", zh: "最大" },
  rollout: { en: "rollout", zh: "逐层累积" },
  meanAll: { en: "mean of all {n} heads", zh: "全部 {n} 个头的平均" },
  maxAll: { en: "maximum of all {n} heads", zh: "全部 {n} 个头的最大值" },
  rolloutAll: { en: "rollout through {n} layers", zh: "穿过 {n} 层的累积" },
  jobs: { en: "Heads with a job", zh: "各司其职的头" },
  noJobs: { en: "No head does one clear thing here.", zh: "这里没有职责分明的头。" },
  board: {
    en:
      "{title}. Left and right step through rows, up and down through heads, with Shift through " +
      "layers; Shift and Enter silence the head, Escape unlocks.",
    zh:
      "{title}。左右键逐行移动，上下键换头，加 Shift 换层；Shift 加 Enter 关掉该头，Esc 解除锁定。",
  },
  named: { en: "layer {layer}, head {head}", zh: "第 {layer} 层第 {head} 头" },
  only: { en: "the only head", zh: "唯一的头" },
  gone: { en: "silenced", zh: "已关掉" },
  cardRank: { en: "{rank} of {n}", zh: "第 {rank}（共 {n}）" },
  cardMasked: { en: "not allowed: it comes later", zh: "不允许：它在后面" },
  cardPooled: { en: "all keys of this column", zh: "这一列的各键" },
  tileTop: { en: "largest", zh: "最大" },
  tileNothing: { en: "nothing is left to look at", zh: "没有可看的键" },
  tileBlock: { en: "largest block, a mean of sums:", zh: "最大的块（和的平均）：" },
  tileLook: { en: "click to look", zh: "点击查看" },
  tileDo: { en: "click to look · shift-click to silence", zh: "点击查看 · shift-点击关掉" },
  tileWake: { en: "click to look · shift-click to restore", zh: "点击查看 · shift-点击恢复" },
  masked: {
    en: "grey: not allowed; no query sees what comes later",
    zh: "灰色：不允许；查询看不到后面的内容",
  },
  pooledNote: {
    en: "pooled {n}×: each column is the sum of {n} keys",
    zh: "合并 {n}×：每列是 {n} 个键之和",
  },
  pooledMax: {
    en: "pooled {n}×: each column is the largest of {n} keys",
    zh: "合并 {n}×：每列取 {n} 个键中的最大值",
  },
  pooledBoth: {
    en: "{pooled}: a cell is the mean over {q} queries of the sum over {k} keys",
    zh: "{pooled}：每格先对 {k} 个键求和，再对 {q} 个查询取平均",
  },
  pooledRollout: {
    en: "multiplied from pooled maps, so an estimate",
    zh: "由合并后的图相乘而得，是估计值",
  },
  exactTake: {
    en: "“CSV 1×” and NPZ hold the exact rows of the chosen block",
    zh: "“CSV 1×”与 NPZ 含所选块的精确各行",
  },
  thresholdBlocks: { en: "blocks under {n} are drawn as 0", zh: "小于 {n} 的块画作 0" },
  thresholdNote: { en: "weights under {n} are drawn as 0", zh: "小于 {n} 的权重画作 0" },
  meanOfSums: { en: "the mean over queries of the sum over keys", zh: "对键求和再对查询取平均" },
  silencedNote: {
    en: "{name} is silenced: its weights remain, its output counts as 0",
    zh: "{name} 已关掉：权重仍在，输出按 0 计",
  },
  rolloutOwn: {
    en: "Rollout (Abnar and Zuidema, 2020): in each layer half the mean attention, half the " +
      "residual path; multiplied from layer 1 to {n}.",
    zh:
      "逐层累积（Abnar 与 Zuidema，2020）：每层一半取各头平均注意力，一半取残差通路，从第 1 层乘到第 {n} 层。",
  },
  rolloutCross: {
    en: "Rollout: the mean of all cross-attention heads, times the rollout through the encoder " +
      "(Abnar and Zuidema, 2020), so it shows which input word arrives.",
    zh:
      "逐层累积：全部交叉注意力头的平均，再乘以编码器的累积（Abnar 与 Zuidema，2020），表示最终到达的是哪个输入词。",
  },
  stale: { en: "from your last sentence", zh: "来自上一个句子" },
  caption: {
    en: "{kind}, {name}: weights of queries (rows) on keys (columns)",
    zh: "{kind}，{name}：查询（行）对键（列）的权重",
  },
  bars: { en: "The strongest keys of the locked row", zh: "锁定行中最强的键" },
  hint: { en: "Choose a block to see its exact rows.", zh: "选一块，看它的精确各行。" },
  hintOne: { en: "Choose a cell to see its row.", zh: "选一格，看它所在的行。" },
  exact: {
    en: "Exact rows {a} to {b}, all {n} keys; framed: keys {c} to {d}",
    zh: "精确的第 {a} 到 {b} 行，全部 {n} 个键；方框：键 {c} 到 {d}",
  },
  exactOne: {
    en: "Row {a}, all {n} keys; framed: key {c}",
    zh: "第 {a} 行，全部 {n} 个键；方框：键 {c}",
  },
  cell: {
    en: "{w}, the mean over queries of the sum over keys",
    zh: "{w}，对键求和再对查询取平均",
  },
  table: {
    en: "Exact weights of queries {a} to {b} on keys {c} to {d}",
    zh: "查询 {a} 到 {b} 对键 {c} 到 {d} 的精确权重",
  },
  single: {
    en: "Exact rows are those of one head: choose a head.",
    zh: "精确的行属于单个头：请选一个头。",
  },
  exactFailed: {
    en: "The exact rows did not arrive: {why}. Choose the block once more.",
    zh: "精确的行未能送达：{why}。请再选一次这一块。",
  },
};

export const STEPS = {
  size: { en: "{layers} steps × {heads} heads", zh: "{layers} 步 × {heads} 头" },
  meanAll: {
    en: "mean of {heads} heads over the steps taken",
    zh: "{heads} 个头在所走各步上的平均",
  },
  maxAll: { en: "maximum of {heads} heads over all steps", zh: "{heads} 个头在各步中的最大值" },
  rolloutAll: { en: "rollout through {n} steps", zh: "穿过 {n} 步的累积" },
  named: { en: "step {layer}, head {head}", zh: "第 {layer} 步第 {head} 头" },
  cardStopped: {
    en: "stopped before this step: it no longer asks",
    zh: "在这一步之前已停止：不再提问",
  },
  rolloutOwn: {
    en: "Rollout (Abnar and Zuidema, 2020): at each step half the mean attention, half the " +
      "residual path; multiplied from step 1 to {n}. Stopped positions stay unchanged.",
    zh:
      "逐步累积（Abnar 与 Zuidema，2020）：每步一半取各头平均注意力，一半取残差通路，从第 1 步乘到第 {n} 步。已停止的保持不变。",
  },
  rollout: { en: "rollout", zh: "逐步累积" },
  stopped: {
    en: "grey: stopped before this step; no longer computed, but still looked at",
    zh: "灰色：在这一步之前已停止；不再计算，但仍可被看到",
  },
};
