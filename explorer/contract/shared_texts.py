"""The texts that several files of the explorer show word for word, by a key that names them.

A text of one file stands there. `tests/explorer/contract/test_shared_texts.py` counts what repeats.
"""

from __future__ import annotations

from typing import Final

from explorer.contract.labels import HEAD as HEAD
from explorer.contract.labels import MODEL as MODEL
from explorer.contract.labels import RUN as RUN
from explorer.contract.labels import STEP as STEP
from explorer.contract.labels import Text
from explorer.contract.labels import text as _

ADDITION: Final[Text] = _("addition", "加法")
ADDITIVE: Final[Text] = _("additive", "加性")
ALL: Final[Text] = _("all", "全部")
ANKLE_BOOT: Final[Text] = _("Ankle boot", "短靴")
ANOTHER: Final[Text] = _("another", "不同")
ANSWER: Final[Text] = _("answer", "回答")
AN_ANKLE_BOOT: Final[Text] = _("An ankle boot", "一只短靴")
APACHE_2_0_THE_GENERATOR_AND: Final[Text] = _(
    "Apache-2.0: the generator and these weights", "Apache-2.0：生成程序与这些权重"
)
AS_TRAINED: Final[Text] = _("as trained", "同训练时")
ATTENTION: Final[Text] = _("attention", "注意力")
AT_THE_END: Final[Text] = _("At the end: {figures}.", "训练结束时：{figures}。")
AT_THE_END_OF_TRAINING_BITS: Final[Text] = _(
    "At the end of training: {figures} bits per character.", "训练结束时：{figures} 比特/字符。"
)
BAG: Final[Text] = _("Bag", "包")
BEAM: Final[Text] = _("beam {n}", "束搜索 {n}")
BITS_PER_CHARACTER: Final[Text] = _("bits per character", "每字符比特数")
BITS_PER_CHARACTER_OF_A_HELD: Final[Text] = _(
    "bits per character of a held-out book, lower is better", "留出书的每字符比特数，越低越好"
)
BITS_PER_CHARACTER_ON_SPLIT: Final[Text] = _("bits per character, {split}", "每字符比特数，{split}")
CARRIES: Final[Text] = _("{n} carries", "{n} 次进位")
CHARACTERS: Final[Text] = _("characters", "字符")
CHARACTERS_READ_MILLIONS: Final[Text] = _("characters read, millions", "读过的字符（百万）")
CHARACTER_THAT_WAS_READ: Final[Text] = _("character that was read", "读过的字符")
COAT: Final[Text] = _("Coat", "外套")
COUNT: Final[Text] = _("{n}", "{n}")
CROSS: Final[Text] = _("Cross", "交叉")
CROSS_ATTENTION: Final[Text] = _("cross-attention", "交叉注意力")
DECODER: Final[Text] = _("decoder", "解码器")
DECODER_SELF: Final[Text] = _("Decoder self", "解码器自注意力")
DRAWN_AGAIN_OF_PIXELS_DIFFER: Final[Text] = _(
    "drawn again, {n} of {of} pixels differ", "重新画时，{of} 个像素中有 {n} 个不同"
)
DRESS: Final[Text] = _("Dress", "连衣裙")
EACH: Final[Text] = _("each", "每个模型")
ENCODER: Final[Text] = _("encoder", "编码器")
ENCODER_SELF: Final[Text] = _("Encoder self", "编码器自注意力")
ENGLISH: Final[Text] = _("English", "英文")
ENGLISH_UP_TO: Final[Text] = _("English, up to {tokens} pieces", "英文，最多 {tokens} 个词片")
FULL: Final[Text] = _("full", "完整")
FULL_SPAN: Final[Text] = _("full span", "全跨度")
FULL_STOP: Final[Text] = _(".", "。")
GENERATED: Final[Text] = _("generated", "生成")
GREEDY_THE_BEST_WORD_AT_EVERY: Final[Text] = _(
    "greedy: the best word at every step", "贪心：每次只取最好的词"
)
HEAD_NAME: Final[Text] = _("head {name}", "头 {name} ")
HEAD_OF_MODEL: Final[Text] = _("head {name} of {model}", "{model}的头 {name} ")
HELD_OUT_LOSS_NATS_PER_PIECE: Final[Text] = _(
    "held-out loss, nats per piece", "验证损失，每词片纳特"
)
HIDDEN_WORDS: Final[Text] = _("hidden words", "遮住的词")
INPUT: Final[Text] = _("input", "输入")
JANE_AUSTEN_PERSUASION_1818_CHAPTER_1: Final[Text] = _(
    "Jane Austen, Persuasion (1818), chapter 1", "简·奥斯汀《劝导》（1818），第 1 章"
)
JANE_AUSTEN_PERSUASION_1818_CHAPTER_23: Final[Text] = _(
    "Jane Austen, Persuasion (1818), chapter 23", "简·奥斯汀《劝导》（1818），第 23 章"
)
KEY: Final[Text] = _("key", "键")
LAST_CHARACTER: Final[Text] = _("last character", "刚读的字符")
LAYER: Final[Text] = _("layer", "层")
LAYERS: Final[Text] = _("layers", "各层")
LAYER_NUMBER: Final[Text] = _("layer {n}", "第 {n} 层")
LEFT_OUT: Final[Text] = _("left out", "去掉")
LENGTH: Final[Text] = _("length", "长度")
LENGTH_PENALTY: Final[Text] = _("length penalty α", "长度惩罚 α")
LIVE_PIXEL_OF: Final[Text] = _("live · pixel {at} of {of}", "实时 · 第 {at} / {of} 像素")
LOCAL_1D: Final[Text] = _("Local 1D", "局部 1D")
LOCAL_2D: Final[Text] = _("Local 2D", "局部 2D")
LOG_PROBABILITY_OF_THE_WHOLE_TRANSLATION: Final[Text] = _(
    "log-probability of the whole translation", "整句译文的对数概率"
)
LSTM: Final[Text] = _("LSTM", "LSTM")
MAKE: Final[Text] = _("make", "生成")
MEAN_N_R: Final[Text] = _("mean N + R", "N + R 均值")
MEASURED: Final[Text] = _("measured", "实测")
MILLISECONDS: Final[Text] = _("{n} ms", "{n} 毫秒")
MOST_OF_IT_IN_K_ROW: Final[Text] = _("most of it in ⟦k:row {row}⟧", "第 ⟦k:{row} 行⟧变化最大")
NAME_AND_VALUE: Final[Text] = _("{name} {value}", "{name} {value}")
NATS: Final[Text] = _("nats", "纳特")
NETWORK: Final[Text] = _("network", "网络")
NETWORK_TITLE: Final[Text] = _("Network", "网络")
NEXT_CHARACTER: Final[Text] = _("next character", "下一个字符")
NONE: Final[Text] = _("none", "无")
NUMBER_OF_LAYERS: Final[Text] = _("layers", "层数")
NOTES: Final[Text] = _("Notes", "说明")
NOUN: Final[Text] = _("noun", "名词")
NOW_RIGHT: Final[Text] = _("now right", "变对了")
NOW_WRONG: Final[Text] = _("now wrong", "变错了")
OF_17_BOOKS_2_HELD_OUT: Final[Text] = _("17 books, 2 held out", "17 本书，另留出 2 本")
ONE_CARRY: Final[Text] = _("{n} carry", "{n} 次进位")
ONE_DIMENSION: Final[Text] = _("1D", "1D")
ONE_SENTENCE: Final[Text] = _("One sentence", "一句话")
ONE_SENTENCE_AND_400_CHARACTERS_WRITTEN: Final[Text] = _(
    "One sentence, and 400 characters written after it", "一句话，接着写 400 个字符"
)
PATH: Final[Text] = _("path", "路径")
PATTERN: Final[Text] = _("pattern", "模式")
PERCENT_OF_TRAINING: Final[Text] = _("% of the training", "训练进度（%）")
PICTURE_TITLE: Final[Text] = _("Picture", "图片")
PIECE: Final[Text] = _("piece", "词片")
PIECE_COUNT: Final[Text] = _("pieces", "词片数")
POSITION: Final[Text] = _("position", "位置")
POSITIONS: Final[Text] = _("positions", "位置")
PREDICTED_CHARACTER: Final[Text] = _("predicted character", "要预测的字符")
PUBLIC_DOMAIN: Final[Text] = _("public domain", "公有领域")
PULLOVER: Final[Text] = _("Pullover", "套衫")
QUERY: Final[Text] = _("query", "查询")
RATE: Final[Text] = _("rate", "学习率")
READS_AND_WRITES_ON: Final[Text] = _("reads, and writes on", "读，并接着写")
READ_A_TEXT_TO_SEE_WHERE: Final[Text] = _(
    "Read a text to see where each head looks.", "读一段文本，看每个头看向哪里。"
)
RELATIVE_ATTENTION: Final[Text] = _("relative attention", "相对注意力")
REVERSIBLE_LAYERS: Final[Text] = _("reversible layers", "可逆层")
RIGHT_ON_SPLIT: Final[Text] = _("right, {split}", "答对，{split}")
SANDAL: Final[Text] = _("Sandal", "凉鞋")
SEARCH: Final[Text] = _("Search", "搜索方式")
SEED: Final[Text] = _("seed", "种子")
SEED_TITLE: Final[Text] = _("Seed", "随机种子")
SELF_ATTENTION: Final[Text] = _("self-attention", "自注意力")
SENTENCE_AND_TRANSLATION: Final[Text] = _("Sentence and translation", "句子与译文")
SHIRT: Final[Text] = _("Shirt", "衬衫")
SPANS: Final[Text] = _("spans", "跨度")
STANDARD_DEVIATION: Final[Text] = _("standard deviation", "标准差")
STEP_COUNT: Final[Text] = _("{n} steps", "{n} 步")
SWITCHED_OFF: Final[Text] = _("off", "关")
SWITCHED_ON: Final[Text] = _("on", "开")
TASK: Final[Text] = _("Task", "任务")
TEMPERATURE: Final[Text] = _("temperature", "温度")
TEXT: Final[Text] = _("text", "文本")
THE_ANSWER: Final[Text] = _("the answer", "回答")
THE_CHARACTER_BEFORE_IT: Final[Text] = _("the character before it", "再前一个字符")
THE_LETTER: Final[Text] = _("The letter", "那封信")
THE_POSITION_BEFORE: Final[Text] = _("the position before", "前一个位置")
THE_SAME: Final[Text] = _("the same", "相同")
THE_SENTENCE: Final[Text] = _("the sentence", "句子")
THE_TEXT: Final[Text] = _("the text", "文本")
TIMES: Final[Text] = _("× {n}", "× {n}")
TOP_K: Final[Text] = _("top-k", "前 k 个")
TO_THE_SENTENCE: Final[Text] = _("to the sentence", "看向句子")
TRAINER: Final[Text] = _("Trainer", "运动鞋")
TRAINING_STEPS: Final[Text] = _("training steps", "训练步数")
TRANSFORMER: Final[Text] = _("Transformer", "Transformer")
TRANSLATE: Final[Text] = _("Translate", "翻译")
TROUSERS: Final[Text] = _("trousers", "裤子")
TROUSERS_TITLE: Final[Text] = _("Trousers", "裤子")
TWO_DIMENSIONS: Final[Text] = _("2D", "2D")
T_SHIRT: Final[Text] = _("T-shirt", "T 恤")
UNTIL: Final[Text] = _("to", "到")
VERB: Final[Text] = _("verb", "动词")
WAY: Final[Text] = _("way", "方式")
WHAT_DO_RESIDUAL_PATHS_CARRY: Final[Text] = _("What do residual paths carry?", "残差路径传递什么？")
WHAT_IS_PRE_TRAINING_WORTH: Final[Text] = _("What is pre-training worth?", "预训练值多少？")
WHAT_IT_SAVES: Final[Text] = _("What it saves", "省下了什么")
WHAT_WOULD_EACH_LAYER_SAY: Final[Text] = _("What would each layer say?", "每一层会说什么？")
WHERE_FROM: Final[Text] = _("where from", "来源")
WHICH_ENGLISH_WORDS_DOES_AN_ENGLISH: Final[Text] = _(
    "Which English words does an English word look at?", "一个英文词看向哪些英文词？"
)
WITH_IT_STILL_WRITES_O: Final[Text] = _(
    "With {what}, it still writes “⟦o:{german}⟧”", "{what}：译文仍是“⟦o:{german}⟧”"
)
WITH_IT_WRITES_O: Final[Text] = _(
    "With {what}, it writes “⟦o:{german}⟧”", "{what}：译文变成“⟦o:{german}⟧”"
)
WRITE: Final[Text] = _("write", "续写")
