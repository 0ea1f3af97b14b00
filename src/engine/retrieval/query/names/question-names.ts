const splitWords = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/))

/** Words that begin a question or a request; capitalised there, they are not names. */
export const FIRST_WORDS = splitWords(`
  who whom whose what which when where why how whether if is are was were be been am do does did done has have had can
  could may might must shall should will would isn't aren't wasn't weren't don't doesn't didn't hasn't haven't can't
  the a an my your our their his her its this that these those some any each every all both one no not and or but so
  in on at by for from of to with about between among during after before since until under over into through within
  name list give tell compare explain describe show summarise summarize find calculate define state identify provide
  according besides please also then there here it he she they we you i as than like other
  qui que quoi quel quelle quels quelles quand où comment pourquoi combien est sont le la les un une des du de en dans
  qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas es son el los las una en por para con
  quem qual quais quando onde como quanto quantos chi cosa quale quali dove come perché quanto quanti è sono il lo gli
  wer was wann wo wie warum wieso welche welcher welches wessen wem wen ist sind war waren hat haben der die das ein eine
  wie wanneer waar hoe waarom welke hoeveel wat
`)

/** Words that many names share: in `Bank of England` only `England` is distinctive. */
export const GENERIC_WORDS = splitWords(`
  inc incorporated corp corporation co company companies ltd limited llc llp plc ag gmbh kg sa se nv bv spa ab group
  holding holdings trust fund bank university college school institute institution academy center centre department
  ministry office agency commission committee council court board association society foundation union league party
  club team church temple museum library hospital station airport street road avenue square park garden bridge river
  lake sea ocean mount mountain island islands valley bay cape city town county state states province region district
  republic kingdom empire dynasty army navy force forces war battle treaty act law bill code amendment constitution
  agreement convention declaration revolution crisis conference olympics games cup award prize festival
  king queen prince princess duke earl lord lady sir saint pope emperor president minister chancellor secretary general
  doctor professor mr mrs ms dr prof north south east west northern southern eastern western central upper lower new
  old great united national international federal royal first second third world day week month year years
  annual report form section chapter table figure page appendix part volume version edition act scene
  celsius fahrenheit kelvin english test system model method theory effect law syndrome disease
`)

/** Lower-case words whose possessive is not a name. */
export const NOT_POSSESSORS = splitWords(`
  what that there here where who how when it he she let today yesterday tomorrow tonight year month week day night
  morning people women men children everyone someone anyone everybody somebody anybody nobody else other another
  company firm city country nation world state author patient customer employee user driver owner parent child person
  woman mother father brother sister master bachelor debtor creditor lender buyer seller government president
`)

/** Acronyms of a measure, a role or a format: a passage may spell them out or omit them. */
export const COMMON_ACRONYMS = splitWords(`
  USD EUR GBP JPY CNY CHF US USA UK EU UN GDP CEO CFO COO CTO CIO HR IT PR PC TV DVD CD AI ML API URL URI HTTP HTTPS FTP
  SSH SQL CSV PDF XML JSON HTML CSS FAQ ID PIN OK VAT TAX IPO ROI ROA ROE EPS EBIT EBITDA COGS DPO DSO DIO SGA SG&A R&D
  PP&E PPE M&A P&L KPI SLA Q&A B2B B2C BC AD BCE CE AM PM GMT UTC DIY RAM CPU GPU USB LED LCD ATM SMS GPS WIFI VPN MVP
`)

/** A name in a question, spelled as there, and its distinctive words. */
export interface QuestionName {
  name: string
  /** as spelled; never empty */
  distinctive: string[]
}

const QUOTED = /["“„«]([^"“”„«»]{2,60})["”“»]|《([^《》]{1,40})》|「([^「」]{2,40})」/gu
/**
 * A word with its inner points, hyphens and ampersands: `AT&T`, `Rolls-Royce`, `U.S.`, `3M`; adjacent Han characters
 * are excluded.
 */
const LETTER = String.raw`(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}])[\p{L}\p{M}\p{N}]`
const WORD = new RegExp(String.raw`(?:${LETTER})+(?:[&.\-–'’](?:${LETTER})+)*\.?`, 'gu')
/** Two characters on each side of the point of a transliterated name; they identify it. */
const HAN_NAME = /(\p{Script=Han}{2})[·・•](\p{Script=Han}{2})/gu
/** `'s`, and suffixes that Turkish and other languages put after the apostrophe of a name. */
const SUFFIX = /['’]\p{Ll}{1,4}$|['’]$/u
const CAPITAL = /^\p{Lu}/u
const ACRONYM = /^(?=.*\p{Lu}.*\p{Lu})[\p{Lu}\p{N}&.-]{2,8}s?$/u
/** Capitals or digits inside of a word: `iPhone`, `3M`, `PostgreSQL`, `KB-77`. */
const MIXED = /^(?:\p{N}+\p{Lu}\p{L}*|\p{L}*\p{Ll}\p{Lu}\p{L}*|\p{Lu}[\p{L}-]*-?\p{N}+)$/u
/** Fiscal years, quarters and the like are times. */
const TIME = /^(?:FY|CY|(?:FY|CY|Q|H)['’]?\d{1,4}(?:[A-Z]{1,2}\d{2,4})?|[IVX]{1,5}|\d+(?:st|nd|rd|th|s)?)$/iu
const GERMAN =
  /(?:^|\s)(?:wie|wer|wem|wen|wann|wo|welche[rsmn]?|warum|wieso|wieviele?|der|das|und|ist|sind|eine?[rmns]?|dem|des|im|vom|zum|zur|von|zu|hat|haben|wird|werden|wurden?|gibt|kann|auf|für|mit|nicht|bei|aus|über)(?=[\s?.,!]|$)/giu
/** Capitalised words that are joined by these words are one name: `Bank of England`. */
const JOINS = /^(?:of|the|de|la|le|du|des|del|di|da|do|dos|van|von|der|den|&)$/u
/** With a higher fraction of capitalised words, capitals do not mark names (a title, a heading, a text in capitals). */
const MAX_CAPITALS_FRACTION = 0.6

/** A question with more names is a text, not a question. */
const MAX_NAMES = 12
/** Maximum words of a quoted title. */
const MAX_TITLE_WORDS = 6
const HAN = /\p{Script=Han}/u
/** A question, by its mark or its words. A claim may use names that passages do not use. */
const QUESTION_START =
  /[?？؟]|^\s*(?:who|what|when|where|which|why|how|is|are|was|were|do|does|did|has|have|can|could|should|will|compare|list|name|give|tell|explain|describe|show|find|calculate)\b/iu

/** Whether a text is a question, with or without a question mark. */
export function isQuestionText(text: string): boolean {
  return QUESTION_START.test(text)
}

interface NameToken {
  text: string
  start: number
  end: number
  isFirst: boolean
}

/**
 * Finds the names that a question mentions: quoted titles, words with capitals or digits inside, runs of capitalised
 * words, possessives, and Chinese transliterations. A capitalised word at the beginning of a sentence is not a name,
 * nor is one in German, where all nouns are capitalised. Doubtful words are not names.
 */
export function findNames(question: string): QuestionName[] {
  const names: QuestionName[] = []
  for (const match of question.matchAll(QUOTED)) addName(names, match[1] ?? match[2] ?? match[3] ?? '', true)
  for (const [name, ...sides] of question.matchAll(HAN_NAME)) names.push({ name, distinctive: sides })
  const rest = question.replace(QUOTED, (found) => ' '.repeat(found.length))
  const tokens = tokenizeWords(rest)
  const isTelling = doCapitalsMarkNames(tokens)
  const isGerman = (rest.match(GERMAN)?.length ?? 0) > 0
  const isQuestion = isQuestionText(question)
  // Chinese has its own words for most abbreviations.
  const codesTell = isQuestion && !HAN.test(question)
  for (const found of findRuns(rest, tokens, isTelling, !isGerman)) {
    // The first word of a claim is capitalised in any case.
    const run = !isQuestion && found[0]?.isFirst === true ? dropFirstWord(found) : found
    const [only] = run
    if (only === undefined) continue
    const text = rest.slice(only.start, run.at(-1)?.end).replace(SUFFIX, '')
    if (run.length > 1 || (isNameAlone(rest, only, isTelling, isGerman) && (codesTell || !isCode(only))))
      addName(names, text, false)
  }
  const seen = new Set<string>()
  return names.filter(({ name }) => !seen.has(name.toLowerCase()) && seen.add(name.toLowerCase())).slice(0, MAX_NAMES)
}

function dropFirstWord(run: NameToken[]): NameToken[] {
  const next = run.findIndex(({ text }, index) => index > 0 && !JOINS.test(text))
  return next < 0 ? run : run.slice(next)
}

function tokenizeWords(text: string): NameToken[] {
  let end = -1
  return [...text.matchAll(WORD)].map((match) => {
    const start = match.index
    const isFirst = end < 0 || /[.!?:\n]/u.test(text.slice(end - 1, start)) === true
    // A full stop belongs to a word with other points, as in `U.S.`.
    const word = /\.\p{L}/u.test(match[0]) ? match[0] : match[0].replace(/\.$/u, '')
    end = start + match[0].length
    return { text: word, start, end: start + word.length, isFirst }
  })
}

function doCapitalsMarkNames(tokens: readonly NameToken[]): boolean {
  const inner = tokens.filter(({ text, isFirst }) => !isFirst && /^\p{L}{2}/u.test(text))
  const capitalised = inner.filter(({ text }) => CAPITAL.test(text)).length
  return inner.length < 4 || capitalised < MAX_CAPITALS_FRACTION * inner.length
}

/**
 * Runs of tokens that form a name. @param canJoin whether link words join them; between German nouns they would join
 * any two
 */
function findRuns(text: string, tokens: readonly NameToken[], isTelling: boolean, canJoin: boolean): NameToken[][] {
  const runs: NameToken[][] = []
  let run: NameToken[] = []
  const close = (): void => {
    while (run.length > 0 && JOINS.test(run.at(-1)?.text ?? '')) run.pop()
    if (run.length > 0) runs.push(run)
    run = []
  }
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1]
    const isApart = before !== undefined && !/^\s(?:&\s)?$/u.test(text.slice(before.end, token.start))
    // A possessive ends a name: the next word is what it possesses.
    if (isApart || token.isFirst || (before !== undefined && SUFFIX.test(before.text))) close()
    const canBegin = isNameWord(token, isTelling) && !(token.isFirst && FIRST_WORDS.has(token.text.toLowerCase()))
    const joins = canJoin && run.length > 0 && JOINS.test(token.text) && isNameWord(tokens[index + 1], isTelling)
    if (canBegin || joins || isPossessor(token, tokens[index - 1])) run.push(token)
    else close()
  }
  close()
  return runs
}

function isNameWord(token: NameToken | undefined, isTelling: boolean): boolean {
  if (token === undefined) return false
  const word = token.text.replace(SUFFIX, '')
  if (TIME.test(word)) return false
  return (isTelling && CAPITAL.test(word) && !isCommonCapital(word)) || (isTelling && MIXED.test(word))
}

/** A lower-case possessive is a name unless an article makes it a noun: `boeing's margin`. */
function isPossessor({ text }: NameToken, before: NameToken | undefined): boolean {
  if (!/^\p{Ll}{4,}['’]s$/u.test(text)) return false
  const word = text.replace(SUFFIX, '')
  if (NOT_POSSESSORS.has(word) || GENERIC_WORDS.has(word)) return false
  return before !== undefined && FIRST_WORDS.has(before.text.toLowerCase()) && !DETERMINER.test(before.text)
}

function isCode({ text }: NameToken): boolean {
  const word = text.replace(SUFFIX, '')
  return MIXED.test(word) || ACRONYM.test(word)
}

function isNameAlone(text: string, token: NameToken, isTelling: boolean, isGerman: boolean): boolean {
  const word = token.text.replace(SUFFIX, '')
  if (MIXED.test(word)) return true
  if (ACRONYM.test(word)) return isTelling && !COMMON_ACRONYMS.has(word.replace(/\./g, '').replace(/s$/u, ''))
  if (SUFFIX.test(token.text) || /^['’]s\b/u.test(text.slice(token.end))) return true
  return !token.isFirst && !isGerman && [...word].length > 2
}

function isCommonCapital(word: string): boolean {
  const plain = word.toLowerCase()
  return plain === 'i' || MONTHS_AND_DAYS.test(plain)
}

const DETERMINER =
  /^(?:the|a|an|my|your|our|their|his|her|its|each|every|all|both|one|this|that|these|those|some|any|no)$/iu
const MONTHS_AND_DAYS =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)$/u

function addName(names: QuestionName[], name: string, isQuoted: boolean): void {
  if (isQuoted && HAN.test(name)) names.push({ name, distinctive: [name] })
  // in `French-language` the capitalised half is the name
  const words = (name.match(WORD) ?? []).flatMap((word) => {
    const trimmed = word.replace(SUFFIX, '').replace(/\.$/u, '')
    return /^\p{Lu}[^-–]*[-–]\p{Ll}/u.test(trimmed) ? trimmed.split(/[-–]/u).slice(0, 1) : [trimmed]
  })
  const distinctive = words.filter((word) => isDistinctiveWord(word))
  // A name of generic words is not distinctive; a longer quotation is a sentence.
  if (distinctive.length === 0 || (isQuoted && words.length > MAX_TITLE_WORDS)) return
  names.push({ name, distinctive })
}

function isDistinctiveWord(word: string): boolean {
  const plain = word.toLowerCase()
  if (JOINS.test(plain) || TIME.test(word)) return false
  return plain.length > 1 && !GENERIC_WORDS.has(plain) && !FIRST_WORDS.has(plain)
}
