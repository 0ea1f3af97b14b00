/**
 * Scripts that become overlapping pairs of characters, because spaces do not separate their words (Chinese, Japanese,
 * Thai) or because words carry particles (Korean). Documents give every pair of a run, so that a wrong split loses
 * nothing. Questions give only the pairs with content.
 */

/** A character of these scripts. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u
const HANGUL = /^[\p{Script=Hangul}]+$/u
const THAI = /^[\p{Script=Thai}]+$/u
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u
/** spans of one script within a run */
const SCRIPT_SPANS =
  /[\p{Script=Hangul}]+|[\p{Script=Thai}]+|[\p{Script=Hiragana}]+|[\p{Script=Katakana}ー]+|[\p{Script=Han}々]+|./gsu
const HIRAGANA = /^[\p{Script=Hiragana}]+$/u
const HAN = /^[\p{Script=Han}々]+$/u
/** kanji between kana: 開 in 開きます */
const LONE_KANJI = /(?<![\p{Script=Han}々])[\p{Script=Han}](?![\p{Script=Han}々])/gu

const toAlternatives = (words: string): string =>
  words
    .split(' ')
    .sort((a, b) => b.length - a.length)
    .join('|')

/**
 * Chinese question words, longest first. Questions are split at these, because such a word would spoil the adjacent
 * pairs.
 */
const CHINESE_QUESTION_WORDS = new RegExp(
  toAlternatives(
    '为什么 為什麼 是什么 是什麼 什么时候 什麼時候 什么 什麼 怎么样 怎麼樣 怎么 怎麼 怎样 怎樣 如何 哪一年 哪一天 哪一 哪里 哪裡 哪儿 哪些 哪个 哪個 哪年 哪天 哪位 哪 多少钱 多少錢 多少 多久 多长时间 多長時間 多长 多長 多大 多远 多遠 多高 几点 幾點 几个 幾個 几天 幾天 几 幾 何时 何時 是否 能不能 可不可以 有没有 有沒有 是不是 请问 請問 谁 誰 吗 嗎 呢',
  ),
  'gu',
)
/** Chinese words that only express politeness or a wish. */
const CHINESE_MODAL_WORDS = new Set(
  '吗 呢 吧 啊 请 請 可以 能 会 會 要 需要 应该 應該 必须 必須 我 你 您 我们 我們 你们 你們 这里 這裡'.split(' '),
)
/**
 * Chinese function words. Pairs that contain one preserve word order, which improves ranking (.001 on CMRC), but have
 * no content.
 */
const CHINESE_FUNCTION_WORDS = new Set([
  ...CHINESE_MODAL_WORDS,
  ...'的 了 着 过 地 得 是 在 和 与 與 及 或 从 從 到 把 被 对 對 为 為 于 於 可 应 他 她 它 他们 他們 她们 这 這 那 这个 這個 那个 那個 这些 那里 也 都 就 还 還 又 而 但 但是 如果 因为 因為 所以 由 向 给 給 让 讓 有 没有 沒有 不 个 個 一个 一個 之 其 以 等 中 里 裡 上 下'.split(
    ' ',
  ),
])

/** Hiragana that is grammar: particles, verb endings, and question words. */
const JAPANESE_GRAMMAR = toAlternatives(
  'は が を に で と も の へ や か ね よ な から まで より だけ ごろ ころ くらい ぐらい ほど など って では には とは でも への での との からの までの について において における によって により による に対して という といった ための ために ことが こと もの とき です でした ですか でしょうか でしょう ます ました ません ますか ましたか ませんか ください くださいますか する すると します しました しますか して した しない される されます されました されますか された されて している しています していますか できる できます できますか できない できました いる います いますか いません いました いた ある あります ありますか ありません ありました あった なる なります なりますか なった なっている なっています なければ なりません ている ています ていますか ていた られる られます られますか れる れます れますか れた いつ どこ だれ なに なん いくら いくつ どう どの どれ どちら どんな どうして なぜ どのくらい どれくらい どのような どのように この その あの これ それ あれ ここ そこ また または および いう たい たいです ない ないで いけません いい よい もらえる もらえます もらえますか かかる かかります かかりますか かかり いただけますか いけますか',
)
const ALL_GRAMMAR = new RegExp(`^(?:${JAPANESE_GRAMMAR})+$`, 'u')
const LEADING_GRAMMAR = /^(?:は|が|を|に|で|と|も|の|へ|や|から|まで|より|この|その|あの)+/u
const TRAILING_GRAMMAR = new RegExp(`(?:${JAPANESE_GRAMMAR})+$`, 'u')
/** Question words in kanji. */
const JAPANESE_QUESTION_WORDS =
  /何曜日|何時間|何時|何分|何日間|何日|何年|何月|何週間|何人|何名|何歳|何個|何回|何円|何階|何度|何番|何語|何泊|何|誰|幾つ|幾ら|方法/gu

/** Endings of Korean words, longest first: particles, the copula, and verbs after a noun. */
const KOREAN_ENDING = new RegExp(
  `(?:${toAlternatives('은 는 이 가 을 를 의 에 에서 에게 에는 에도 에서는 으로 로 으로는 로는 와 과 도 만 까지 까지는 부터 부터는 마다 보다 처럼 이나 나 이랑 랑 이며 며 에서의 으로부터 로부터 입니다 입니까 이다 인가요 인가 인지 이에요 예요 이었습니다 였습니다 합니다 합니까 하나요 하는 한다 하다 하고 하며 하면 하여 해서 해요 했다 했습니다 했나요 한 할 하기 하려면 해야 됩니다 됩니까 되나요 되는 된다 되다 되고 되며 되면 되어 돼요 되었습니다 됐습니다 되었나요 된 될 습니다 습니까 나요 까요 어요 아요 여요 었습니다 았습니다 었나요 았나요 는가 은가 는지 을까요 세요 으세요 지요 죠 들 들은 들이 들을 들의 들도')})$`,
  'u',
)
/**
 * A word of one syllable with an unambiguous ending. The next set has words of two syllables that only look like it.
 */
const KOREAN_ONE_SYLLABLE = /^(.)(?:[은는을를]|나요|습니다|습니까|[아어]요|[았었]습니다)$/u
const KOREAN_UNSPLIT_WORDS = new Set(
  '마을 가을 노을 겨를 하늘 오늘 이를 있는 없는 같은 많은 작은 좋은 높은 낮은 어느'.split(' '),
)
/** Korean words without content in a question. */
const KOREAN_FUNCTION_WORDS = new Set(
  '언제 어디 어디서 어디에 어디에서 어디로 어디에는 어디인가요 어디입니까 누구 누가 누구를 누구의 누구에게 누구인가요 누구입니까 무엇 무엇을 무엇이 무엇인가요 무엇입니까 무슨 뭐 뭘 뭐예요 왜 어떻게 어떤 어느 얼마 얼마나 얼마인가요 얼마입니까 얼마예요 얼마동안 며칠 몇 몇시 몇시에 몇시까지 몇시부터 몇명 몇개 몇층 몇층에 시에 있는 있나요 있습니까 있습니다 있어요 있는지 있다 없는 없나요 없습니다 없다 수 것 것은 것이 것을 등 및 그 이 저 그리고 또는 또한 하지만 그러나 때 때문에 위해 위한 대한 대해 관한 통해 따라 합니까 합니다 하나요 해야 하는 한 할 됩니까 됩니다 되나요 되는 인가요 입니까 입니다 제 저는 제가 나는 내가 우리 우리는 좀'.split(
    ' ',
  ),
)

/** Thai words without content in a question. */
const THAI_FUNCTION_WORDS = new Set(
  'ที่ ใน ของ และ หรือ แต่ กับ จาก ถึง ให้ ได้ ไม่ ไม่ได้ มี เป็น คือ อยู่ จะ ต้อง ว่า นี้ นั้น ก็ แล้ว โดย เพื่อ ซึ่ง อัน สำหรับ ตั้งแต่ จน จนถึง ต่อ ไหม มั้ย หรือไม่ หรือเปล่า อะไร ไหน ที่ไหน ใคร เมื่อไร เมื่อไหร่ เมื่อ ไร ไหร่ เท่า เท่าไร เท่าไหร่ เท่าใด ใด กี่ ทำไม อย่างไร ยังไง อย่าง ครับ ค่ะ คะ ผม ฉัน เรา คุณ เขา มัน นาน แค่ไหน แค่ ไป มา บ้าง ทุก ๆ การ ความ ถูก กัน คน'.split(
    ' ',
  ),
)

const segmenters = new Map<string, Intl.Segmenter>()

/**
 * Splits a run into words with the dictionaries of Node. A Node without them splits differently, which loses little.
 */
function segmentWords(run: string, locale: 'zh' | 'th'): string[] {
  let segmenter = segmenters.get(locale)
  if (segmenter === undefined) {
    segmenter = new Intl.Segmenter(locale, { granularity: 'word' })
    segmenters.set(locale, segmenter)
  }
  return Array.from(segmenter.segment(run), ({ segment }) => segment)
}

/** A letter with its vowel and tone marks. In Thai, separate marks would pair with every letter. */
const CHARACTER = /\P{M}\p{M}*|\p{M}+/gu
const MARK = /\p{M}/u

function splitCharacters(run: string): string[] {
  return MARK.test(run) ? (run.match(CHARACTER) ?? []) : Array.from(run)
}

/** Emits the overlapping pairs of a run of characters. A run of one character is its own term. */
export function emitPairs(run: string, emit: (term: string) => void): void {
  const characters = splitCharacters(run.toLowerCase())
  if (characters.length === 1) emit(run)
  for (let i = 1; i < characters.length; i++) emit(`${characters[i - 1]}${characters[i]}`)
}

/**
 * Emits the terms of a document's run in addition to its pairs: words of one character, such as kanji between kana and
 * Korean nouns with a particle.
 */
export function emitSingleCharacters(run: string, emit: (term: string) => void): void {
  if (run.length < 2) return
  const syllable = KOREAN_ONE_SYLLABLE.exec(run)?.[1]
  if (syllable !== undefined) emit(syllable)
  else if (KANA.test(run)) for (const [kanji] of run.matchAll(LONE_KANJI)) emit(kanji)
}

export interface QuestionForm {
  /** whether the question has kana, so that its kanji are not Chinese */
  isJapanese: boolean
  /** whether pairs with Chinese grammar are kept, for ranking */
  keepsOrder: boolean
}

/** Calls `emit` with the pairs of a question's run that have content. */
export function emitContentPairs(run: string, form: QuestionForm, emit: (term: string) => void): void {
  let previous = ''
  for (const [span] of run.matchAll(SCRIPT_SPANS)) {
    if (HANGUL.test(span)) emitKorean(span, emit)
    else if (THAI.test(span)) emitThai(span, emit)
    else if (HIRAGANA.test(span)) emitHiragana(span, previous, emit)
    else if (!HAN.test(span)) emitPairs(span, emit)
    else if (form.isJapanese) for (const part of splitNonEmpty(span, JAPANESE_QUESTION_WORDS)) emitPairs(part, emit)
    else emitChinese(span, form.keepsOrder ? CHINESE_MODAL_WORDS : CHINESE_FUNCTION_WORDS, emit)
    previous = span
  }
}

/** Whether a text contains kana, so that its kanji are Japanese. */
export function hasKana(text: string): boolean {
  return KANA.test(text)
}

function splitNonEmpty(text: string, separator: RegExp): string[] {
  return text.split(separator).filter((part) => part !== '')
}

function emitChinese(run: string, excluded: ReadonlySet<string>, emit: (term: string) => void): void {
  let span = ''
  const flush = (): void => {
    if (span !== '') emitPairs(span, emit)
    span = ''
  }
  for (const part of splitNonEmpty(run, CHINESE_QUESTION_WORDS)) {
    for (const word of segmentWords(part, 'zh')) {
      if (excluded.has(word)) flush()
      else span += word
    }
    flush()
  }
}

/** @param previous the previous span; after kanji, the run begins with the ending of a verb or with a particle */
function emitHiragana(run: string, previous: string, emit: (term: string) => void): void {
  if (ALL_GRAMMAR.test(run)) return
  const isAfterKanji = HAN.test(previous)
  const remaining = isAfterKanji ? run.replace(LEADING_GRAMMAR, '') : run
  if (isAfterKanji && remaining === run) return
  const rest = remaining.replace(TRAILING_GRAMMAR, '')
  if (Array.from(rest).length > 1) emitPairs(rest, emit)
}

function emitKorean(word: string, emit: (term: string) => void): void {
  if (KOREAN_FUNCTION_WORDS.has(word)) return
  const syllable = KOREAN_UNSPLIT_WORDS.has(word) ? undefined : KOREAN_ONE_SYLLABLE.exec(word)?.[1]
  if (syllable !== undefined) {
    emit(syllable)
    return
  }
  const stem = word.replace(KOREAN_ENDING, '')
  emitPairs(stem.length >= 2 ? stem : word, emit)
}

/** NFKC splits U+0E33 into two characters, which the dictionary does not know. */
function emitThai(run: string, emit: (term: string) => void): void {
  for (const word of segmentWords(run.replaceAll('\u0e4d\u0e32', '\u0e33'), 'th'))
    if (!THAI_FUNCTION_WORDS.has(word) && splitCharacters(word).length > 1) emitPairs(word.normalize('NFKC'), emit)
}
