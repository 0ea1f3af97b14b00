import { analyzeLanguageIndependent } from '../../../../lib/text/analyze.js'
import { sentenceTerms } from '../../../../lib/text/sentence-terms.js'
import {
  areTitlesOfThings,
  compareStatements,
  listContentStems,
  type PassageUnit,
  type QuestionFocus,
  readStatements,
  type Statement,
  type StatementRelation,
  splitPassage,
} from '../../../knowledge/index.js'
import { answerType } from '../question/answer-type.js'

export interface Contradiction {
  /** indexes of the two items in the list given */
  item: number
  other: number
  reason: string
  /** the sentences that contradict each other */
  sentences: [string, string]
}

/** Two items that differ without contradicting: they are about different things, or one replaced the other. */
export interface Difference extends Contradiction {
  kind: 'newer' | 'other'
  /** index of the item that is valid today, when the two are about one fact */
  newer?: number
}

export interface ComparablePassage {
  title: string
  text: string
  /** id of its document; items of one document are not compared */
  document?: string
  /** day of the document, `yyyy-mm-dd` or longer, when known */
  day?: string
  /** whether the document states that it replaces another one */
  replaces?: boolean
}

export interface ConflictFindings {
  conflicts: Contradiction[]
  differences: Difference[]
}

/** Minimum fraction of the question that a unit and its title contain; other units are not read. */
const MIN_UNIT_COVERAGE = 0.4
/**
 * The same for scripts without spaces: the question has character pairs across two words, which no sentence contains.
 */
const MIN_UNSPACED_COVERAGE = 0.33
/** Maximum units of an item that are read: those that contain most of the question. */
const MAX_UNITS = 4
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const DAY_LENGTH = 'yyyy-mm-dd'.length

/**
 * Finds items that contradict each other about the question. Their sentences, labelled values and cells that match the
 * question are read as statements, and statements of different documents are compared. When the documents have
 * different days, or one replaces the other, the later one is valid: that is a difference, not a contradiction.
 *
 * @param terms terms of the question, weighed by `idf`
 */
export function findContradictions(
  query: string,
  terms: readonly string[],
  idf: (term: string) => number,
  items: readonly ComparablePassage[],
): ConflictFindings {
  const findings: ConflictFindings = { conflicts: [], differences: [] }
  if (items.length < 2) return findings
  const weights = computeStemWeights(query, terms, idf)
  const type = answerType(query)
  const focus: QuestionFocus = {
    stems: new Set([...weights.keys(), ...listContentStems(query)]),
    asksWhen: type === 'time',
    asksOne: type === 'person' || SINGLE_VALUE_QUESTION.test(query),
  }
  // A word that no item contains does not separate items: `how long`.
  const containedStems = new Set(items.flatMap(({ title, text }) => [...sentenceTerms(title), ...sentenceTerms(text)]))
  const weighed = new Map([...weights].filter(([stem]) => containedStems.has(stem)))
  const read = items.map((item) => readItem(item, weighed))
  for (const [item, one] of read.entries())
    for (let other = item + 1; other < read.length; other++) {
      const [left, right, two] = [items[item], items[other], read[other]]
      if (left === undefined || right === undefined || two === undefined) continue
      if (left.document !== undefined && left.document === right.document) continue
      const found = compareItems(one, two, focus)
      if (found === undefined) continue
      const { relation, sentences } = found
      const pair = { item, other, sentences, reason: relation.reason }
      const side = relation.kind === 'other' ? undefined : (findLater(left, right) ?? relation.newer)
      const newer = side === undefined ? {} : { newer: side === 0 ? item : other }
      if (relation.kind === 'conflict' && side === undefined) findings.conflicts.push(pair)
      else findings.differences.push({ ...pair, kind: relation.kind === 'other' ? 'other' : 'newer', ...newer })
    }
  return findings
}

/** Questions for a single value: `where`, `what is the …`, `which room`; not `which offices`. */
const SINGLE_VALUE_QUESTION =
  /(?<!\p{L})(?:where|wo|où|dónde)(?!\p{L})|(?<!\p{L})(?:what|which) (?:is|was|\p{L}+[^s\W](?!\p{L}))|(?<!\p{L})(?:welche[rsmn]|quel(?:le)?|cuál)(?!\p{L})|(?<!\p{L})(?:was|wie) (?:ist|heißt|lautet)(?!\p{L})/iu

/** Weight of each of the question's stems. */
function computeStemWeights(
  query: string,
  terms: readonly string[],
  idf: (term: string) => number,
): Map<string, number> {
  const common = analyzeLanguageIndependent(query)
  const isSame = common.length === terms.length
  return new Map(
    (isSame ? terms : common).map((term, index) => [isSame ? (common[index] ?? term) : term, Math.max(0.1, idf(term))]),
  )
}

/** Which of two documents is valid, when one replaces the other or their days differ. */
function findLater(one: ComparablePassage, two: ComparablePassage): 0 | 1 | undefined {
  const [a, b] = [one, two].map(({ day }) => day?.slice(0, DAY_LENGTH))
  if (a !== undefined && b !== undefined && a !== b) return a > b ? 0 : 1
  if ((one.replaces === true) === (two.replaces === true)) return undefined
  return one.replaces === true ? 0 : 1
}

interface ParsedItem {
  title: string
  heads: ReadonlySet<string>
  /** units that concern the question */
  units: readonly PassageUnit[]
  statements: () => Statement[]
}

function readItem({ title, text }: ComparablePassage, weights: ReadonlyMap<string, number>): ParsedItem {
  const heads = new Set(sentenceTerms(title))
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const scored = splitPassage(text).flatMap((unit) => {
    const stems = new Set(sentenceTerms(`${unit.label ?? ''} ${unit.text}`))
    const before = new Set(unit.before === '' ? [] : sentenceTerms(unit.before))
    let [own, all] = [0, 0]
    for (const [stem, weight] of weights) {
      if (stems.has(stem)) own += weight
      if (stems.has(stem) || heads.has(stem) || before.has(stem)) all += weight
    }
    const min = UNSPACED.test(unit.text) ? MIN_UNSPACED_COVERAGE : MIN_UNIT_COVERAGE
    return own > 0 && all >= min * total ? [{ unit, own }] : []
  })
  const units = scored
    .sort((a, b) => b.own - a.own)
    .slice(0, MAX_UNITS)
    .map(({ unit }) => unit)
  let statements: Statement[] | undefined
  return {
    title,
    heads,
    units,
    statements: () => {
      statements ??= units.flatMap(readStatements)
      return statements
    },
  }
}

/** The first contradiction of two items, or else the first difference; undefined when they agree. */
function compareItems(
  one: ParsedItem,
  two: ParsedItem,
  focus: QuestionFocus,
): { relation: StatementRelation; sentences: [string, string] } | undefined {
  if (one.units.length === 0 || two.units.length === 0) return undefined
  let difference: { relation: StatementRelation; sentences: [string, string] } | undefined
  for (const left of one.statements())
    for (const right of two.statements()) {
      const relation = compareStatements(left, right, { focus, heads: [one.heads, two.heads] })
      if (relation === undefined) continue
      const found = { relation, sentences: [left.sentence, right.sentence] satisfies [string, string] }
      if (relation.kind !== 'conflict') difference ??= found
      else if (
        !areTitlesOfThings(
          one.title,
          two.title,
          (stem) => focus.stems.has(stem) || left.stems.has(stem) || right.stems.has(stem),
        )
      )
        return found
      else
        difference ??= {
          ...found,
          relation: { ...relation, kind: 'other', reason: 'documents of the same kind about different things' },
        }
    }
  return difference
}
