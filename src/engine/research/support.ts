import { analyzeContent } from '../../lib/text/analyze.js'
import { mentionsName } from '../../lib/text/name-mentions.js'
import { namesIn } from '../../lib/text/names.js'
import { splitSentences } from '../../lib/text/sentences.js'

/** What a statement may rest on: a passage with its headings and the name of its document. */
export interface Source {
  text: string
  /** title, headings, file name */
  names: string
}

/** Share of a statement's words that a passage must hold for the statement to be its, where it cites none. */
const OWN_WORDS = 0.6
const MARK = /\s?\[(\d{1,3})\]/g
const NUMBER = /\d+(?:[.,]\d+)*/g

/**
 * Whether a passage says what a statement says, as far as rules can tell: the numbers and the names of the statement
 * stand in it, in its headings or in the name of its document.
 */
export function isSupported(statement: string, sources: readonly Source[]): boolean {
  const said = statement.replace(MARK, '')
  const told = sources.map(({ text, names }) => `${names}\n${text}`).join('\n')
  const numbers = new Set((told.match(NUMBER) ?? []).map(plainNumber))
  return (
    (said.match(NUMBER) ?? []).every((number) => numbers.has(plainNumber(number))) &&
    namesIn(said).every(({ text }) => mentionsName(told, text))
  )
}

/** `1,234.50` and `1234.5` are one number. */
function plainNumber(number: string): string {
  const bare = number.replace(/[,](?=\d{3}(?:\D|$))/g, '').replace(',', '.')
  return Number.isNaN(Number(bare)) ? bare : String(Number(bare))
}

/** An answer without the statements that its passages do not support. */
export interface Checked {
  /** empty where nothing was left */
  text: string
  dropped: number
}

/**
 * Checks what a model wrote against the passages it was given, statement by statement. One that cites nothing gets the
 * number of the passage that says it, where one does; what no passage supports goes.
 *
 * @param answer with marks `[n]`, places in `sources` counted from 1
 */
export function checked(answer: string, sources: readonly Source[]): Checked {
  let dropped = 0
  const lines = answer.split('\n').map((line) => {
    const kept = statementsOf(line).flatMap((statement) => {
      const text = supported(statement, sources)
      if (text === undefined) dropped += 1
      return text ?? []
    })
    return kept.join(' ')
  })
  const text = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return { text: saysAnything(text) ? text : '', dropped }
}

function supported(statement: string, sources: readonly Source[]): string | undefined {
  const cited = [...statement.matchAll(MARK)].flatMap((mark) => sources[Number(mark[1]) - 1] ?? [])
  if (cited.length > 0) return isSupported(statement, cited) ? statement : undefined
  if (!saysAnything(statement) || isLead(statement)) return statement
  const own = sources.findIndex((source) => isSupported(statement, [source]) && holdsWords(statement, source))
  return own < 0 ? undefined : `${statement.replace(MARK, '').trimEnd()} [${own + 1}]`
}

/** A heading, or what introduces a list or a table. */
function isLead(statement: string): boolean {
  return /^\s*#|[:：]\s*$|^[\s|:-]*$/u.test(statement)
}

function saysAnything(text: string): boolean {
  return /\p{L}/u.test(text.replace(MARK, ''))
}

function holdsWords(statement: string, { text, names }: Source): boolean {
  const asked = new Set(analyzeContent(statement.replace(MARK, '')))
  const told = new Set(analyzeContent(`${names}\n${text}`))
  const held = [...asked].filter((term) => told.has(term)).length
  return held >= OWN_WORDS * asked.size
}

/** Sentences with the marks that stand behind them. */
function statementsOf(line: string): string[] {
  // `So it is. [1] And so.`: the mark belongs to what stands before it
  const joined = line.replace(/([.!?。！？])((?:\s?\[\d{1,3}\])+)/gu, '$2$1')
  return splitSentences(joined).map(({ start, end }) => joined.slice(start, end))
}
