/** A name in a question: of a company, product, person or location. */
export interface NameMention {
  text: string
  start: number
  /** after the possessive `'s`, if any */
  end: number
  isPossessive: boolean
}

/** Words that begin a question or a sentence with a capital and are not names. */
const NO_NAMES = new Set(
  (
    'a an the and or but of for in on at to by from with without between versus vs than as per about over under since ' +
    'what which who whom whose when where why how is are was were be been do does did can could should will would has ' +
    'have had may might must not no yes if both each every all any some this that these those it its they their there ' +
    'compare comparison contrast describe explain summarise summarize list find tell give show name state discuss ' +
    'identify outline provide analyse analyze calculate please also then because during according regarding ' +
    'january february march april may june july august september october november december ' +
    'monday tuesday wednesday thursday friday saturday sunday q1 q2 q3 q4 h1 h2 fy fiscal year quarter i ' +
    'ebitda ebit eps cogs sg&a r&d ppe ppne pp&e ceo cfo coo cto roa roe roi dpo dso fcf gaap usd eur gbp gdp vat ' +
    'kpi faq pdf api url id wie was wer wo wann warum welche welcher welches vergleiche vergleich der die das und ' +
    'quel quelle quels quelles comment pourquoi comparez compara cual cuál cuáles cómo como qué'
  ).split(' '),
)
const WORD = /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}&_+-]|[.’'](?=[\p{L}\p{N}]))*/gu
const POSSESSIVE = /['’]s$/u
const YEAR_LIKE = /^(?:fy)?\d{2,4}$/iu
/** `and` is part of a name only where the name is written with `&`. */
const WITHIN_NAME = /^(?: & | )$/u
const GERMAN = /\b(?:der|die|das|und|von|wie|welche[rsmn]?|zwischen|für|bei|ist|sind|nicht|den|dem)\b/giu
/** German nouns are capitalized, too: a name follows one of these, or another name. */
const BEFORE_GERMAN_NAME = /(?:\b(?:von|bei|für|zwischen|mit|und|oder|gegen|als)|[,/])\s+$/iu

interface NameWord {
  text: string
  start: number
  end: number
}

/**
 * Finds names in a text by their spelling: capitals within a sentence, capitals inside a word, quoted words. The first
 * word of a sentence is a name if it has an `'s` or is next to another name.
 */
export function findNames(text: string): NameMention[] {
  const words = [...text.matchAll(WORD)].map((match): NameWord => {
    const end = match.index + match[0].length
    return { text: match[0], start: match.index, end }
  })
  const isGerman = (text.match(GERMAN)?.length ?? 0) >= 2
  const runs: NameWord[][] = []
  for (const [index, word] of words.entries()) {
    const lastWord = runs.at(-1)
    const previous = lastWord?.at(-1)
    const continuesRun =
      previous !== undefined &&
      previous === words[index - 1] &&
      !POSSESSIVE.test(previous.text) &&
      WITHIN_NAME.test(text.slice(previous.end, word.start))
    if (continuesRun && (looksLikeName(word) || /^\d{3}[a-z]?$/i.test(word.text))) lastWord?.push(word)
    else if (
      looksLikeName(word) &&
      (!isGerman || BEFORE_GERMAN_NAME.test(text.slice(0, word.start)) || hasInnerCapitalOrDigit(word))
    )
      runs.push([word])
  }
  return runs.filter((run) => !isCapitalizedByPosition(text, run)).flatMap((run) => toNames(text, run))
}

function looksLikeName({ text }: NameWord): boolean {
  const bare = text.replace(POSSESSIVE, '')
  if (NO_NAMES.has(bare.toLowerCase()) || YEAR_LIKE.test(bare) || bare.length < 2) return false
  return /^\p{Lu}/u.test(bare) || hasInnerCapitalOrDigit({ text: bare })
}

/** Whether a word has capitals or digits inside: `iPhone`, `FTS5`. */
function hasInnerCapitalOrDigit({ text }: Pick<NameWord, 'text'>): boolean {
  return /\p{Ll}\p{Lu}/u.test(text) || (/\p{Lu}/u.test(text) && /\p{N}/u.test(text) && !YEAR_LIKE.test(text))
}

/** Whether the start of a sentence is the only sign of a name. */
function isCapitalizedByPosition(text: string, run: readonly NameWord[]): boolean {
  const [first, second] = run
  if (first === undefined || second !== undefined || POSSESSIVE.test(first.text) || hasInnerCapitalOrDigit(first))
    return false
  const before = text.slice(0, first.start)
  if (!/(?:^|[.!?:;\n]|[-*•])\s*["“'(]?$/u.test(before)) return false
  const after = text.slice(first.end)
  return !/^(?:,| and| or| vs\.?| versus| &)\s+(?:\p{Lu}|\p{Ll}*\p{Lu})/u.test(after)
}

function toNames(text: string, run: readonly NameWord[]): NameMention[] {
  const firstWord = run[0]
  const lastWord = run.at(-1)
  if (firstWord === undefined || lastWord === undefined) return []
  const isPossessive = POSSESSIVE.test(lastWord.text)
  const hasTrailingApostrophe = /s$/u.test(lastWord.text) && /^['’](?=\s)/u.test(text.slice(lastWord.end))
  const end = lastWord.end + (hasTrailingApostrophe ? 1 : 0)
  const name = text.slice(firstWord.start, lastWord.end).replace(POSSESSIVE, '')
  return [{ text: name, start: firstWord.start, end, isPossessive: isPossessive || hasTrailingApostrophe }]
}
