import { findReplacedRuns } from './align.js'
import { isMoney } from './measures.js'
import { differByNegatingPrefix } from './polarity.js'
import { areExclusive, type Quantity } from './quantities.js'
import type { Moment, Statement, StatementWord } from './statements.js'

/** Stems of the question, and whether it asks for a time, or for a single name, place or object. */
export interface QuestionFocus {
  stems: ReadonlySet<string>
  asksWhen: boolean
  asksOne: boolean
}

export type DisagreementKind = 'number' | 'date' | 'negation' | 'opposite' | 'alternative'

/** How two statements about one fact relate: they contradict each other, or are about different times or subjects. */
export interface StatementRelation {
  kind: 'conflict' | 'newer' | 'other'
  by: DisagreementKind
  reason: string
  /** for `newer`: index of the newer statement, when the statements show it */
  newer?: 0 | 1
  /** words in which the two differ */
  values: ReadonlySet<StatementWord>
}

/** Two statements, and the words of each that the other statement and its headings lack. */
interface StatementPair {
  one: Statement
  two: Statement
  shared: ReadonlySet<string>
  own: readonly [readonly StatementWord[], readonly StatementWord[]]
}

type StatementDisagreement = Pick<StatementRelation, 'by' | 'reason' | 'values'>

/** Minimum overlap of two statements about one fact; a denial needs nearly the same words. */
const MIN_FACT_OVERLAP = 0.5
const MIN_DENIAL_OVERLAP = 0.6
/** Cost of a word that only one statement has: when the other has a different word instead, and when it has none. */
const COST_ON_BOTH = 0.9
const COST_ON_ONE = 0.12
/** Many verbs have the same meaning: kept, stored, retained. */
const VERB_COST_ON_BOTH = 0.35
/** A longer clause does more than name a value. */
const MAX_NAMING_WORDS = 9
/** Maximum words besides the value that only one of the two statements has. */
const MAX_OTHER_WORDS = 3
/** A sentence with more numbers is a table in words. */
const MAX_QUANTITIES = 4
const MAX_VALUE_WORDS = 4
/** Maximum tokens of a phrase that replaces another one; longer runs are unrelated text. */
const MAX_REPLACED = 3

/**
 * Compares two statements.
 *
 * @param heads stems of the title and headings of each; a statement need not repeat them
 * @returns undefined when the two are about different facts, or agree
 */
export function compareStatements(
  one: Statement,
  two: Statement,
  { focus, heads }: { focus: QuestionFocus; heads: readonly [ReadonlySet<string>, ReadonlySet<string>] },
): StatementRelation | undefined {
  if (one.sentence === two.sentence) return undefined
  const shared = new Set([...one.stems].filter((stem) => two.stems.has(stem)))
  for (const [statement, otherHeads] of [
    [one, heads[1]],
    [two, heads[0]],
  ] as const)
    for (const stem of statement.stems) if (otherHeads.has(stem)) shared.add(stem)
  if (![...shared].some((stem) => focus.stems.has(stem))) return undefined
  const own = [getOwnWords(one, two, heads[1]), getOwnWords(two, one, heads[0])] as const
  const pair: StatementPair = { one, two, shared, own }
  const found =
    compareNumbers(pair, focus) ??
    compareOpposites(pair) ??
    compareDenials(pair) ??
    compareDates(pair, focus) ??
    compareNames(pair, focus)
  if (found === undefined) return undefined
  const { by, reason, values } = found
  const other =
    findSubjectDifference(pair, values) ??
    (by === 'opposite' || by === 'negation' ? findCaseDifference(pair, values) : undefined)
  if (other !== undefined) return { kind: 'other', by, reason: other, values }
  const order = findTimeOrder(pair, by)
  return { by, reason, values, kind: 'conflict', ...order }
}

/** Words of the first statement that the other one and its headings lack. */
export function getOwnWords(one: Statement, two: Statement, heads: ReadonlySet<string>): StatementWord[] {
  return one.words.filter(({ stem }) => !two.stems.has(stem) && !heads.has(stem))
}

/** 0 to 1: shared words compared with words of one side only, without the values in which the two disagree. */
function computeOverlap(
  { shared, own }: StatementPair,
  values: ReadonlySet<StatementWord> = new Set(),
  bonus = 0,
): number {
  const count = (side: 0 | 1, isVerbal: boolean): number =>
    own[side].filter((word) => !values.has(word) && word.isVerbal === isVerbal).length
  const cost = (isVerbal: boolean, onBoth: number): number => {
    const [left, right] = [count(0, isVerbal), count(1, isVerbal)]
    return onBoth * Math.min(left, right) + COST_ON_ONE * Math.abs(left - right)
  }
  const common = shared.size + bonus
  return common / (common + cost(false, COST_ON_BOTH) + cost(true, VERB_COST_ON_BOTH))
}

/** Reason why the two are about different subjects: a subject, name or modifier that replaces the other's. */
function findSubjectDifference(pair: StatementPair, values: ReadonlySet<StatementWord>): string | undefined {
  const { one, two, own } = pair
  const [a, b] = own.map((words) => words.filter((word) => !word.isVerbal && !values.has(word)))
  if (a === undefined || b === undefined) return undefined
  for (const test of [({ isSubject }: StatementWord) => isSubject, ({ isName }: StatementWord) => isName])
    if (a.some(test) && b.some(test)) return formatDifference('about', a.filter(test), b.filter(test))
  if (one.value !== undefined || two.value !== undefined) return undefined
  for (const [left, right] of findReplacedRuns(one.line, two.line)) {
    if (Math.max(left.length, right.length) > MAX_REPLACED) continue
    const [x, y] = [a.filter(({ index }) => left.includes(index)), b.filter(({ index }) => right.includes(index))]
    if (x.length > 0 && y.length > 0) return formatDifference('about', x, y)
  }
  const isPart = one.quantities.length !== two.quantities.length && one.subjectQuantities !== two.subjectQuantities
  if (isPart) return 'one is about a part only'
  if (one.isHedged !== two.isHedged) return 'one is conditional or reported speech'
  return undefined
}

/** A denial for one case does not apply to another case. */
function findCaseDifference({ one, two, own }: StatementPair, values: ReadonlySet<StatementWord>): string | undefined {
  const [a, b] = own.map((words) => words.filter((word) => !word.isVerbal && !values.has(word)))
  if (a !== undefined && b !== undefined && a.length > 0 && b.length > 0) return formatDifference('about', a, b)
  const isStaged = one.isDenied === two.isDenied ? one.isStaged || two.isStaged : (one.isDenied ? one : two).isStaged
  return isStaged ? 'at another stage' : undefined
}

function formatDifference(by: string, one: readonly StatementWord[], two: readonly StatementWord[]): string {
  const [a, b] = [one, two].map((words) => words.map(({ shown }) => shown).join(' '))
  return `${by} different things: ${a} and ${b}`
}

/** One describes the past or replaces it, or each has its own time. */
function findTimeOrder(
  { one, two }: StatementPair,
  by: DisagreementKind,
): Pick<StatementRelation, 'kind' | 'newer' | 'reason'> | undefined {
  if (one.order !== two.order && (one.order !== undefined || two.order !== undefined)) {
    const newer = one.order === 'newer' || two.order === 'older' ? 0 : 1
    return { kind: 'newer', newer, reason: 'one describes an earlier time' }
  }
  if (by === 'date') return undefined
  const [a, b] = [one.moments, two.moments]
  if (a.length === 0 && b.length === 0) return undefined
  if (a.length === 0 || b.length === 0) {
    const limit = [...a, ...b].find(({ year, month, quarter }) => (year ?? month ?? quarter) !== undefined)
    return limit === undefined ? undefined : { kind: 'other', reason: `one is about ${limit.shown} only` }
  }
  if (a.some((left) => b.some((right) => !areDifferentDays(left, right)))) return undefined
  const [first, second] = [a[0]?.year, b[0]?.year]
  const reason = `another time: ${formatMoments(a)}, ${formatMoments(b)}`
  if (first === undefined || second === undefined || first === second) return { kind: 'other', reason }
  return { kind: 'newer', newer: first > second ? 0 : 1, reason }
}

function formatMoments(moments: readonly Moment[]): string {
  return moments.map(({ shown }) => shown).join(', ')
}

/** Whether two dates cannot be the same day. A part that one of them omits is not compared. */
function areDifferentDays(one: Moment, two: Moment): boolean {
  return (['year', 'month', 'day', 'weekday', 'quarter'] as const).some(
    (part) => one[part] !== undefined && two[part] !== undefined && one[part] !== two[part],
  )
}

function compareNumbers(pair: StatementPair, focus: QuestionFocus): StatementDisagreement | undefined {
  const found: StatementDisagreement[] = []
  const { one, two } = pair
  const [code, other] = [getCode(one), getCode(two)]
  if (code !== undefined && other !== undefined && code !== other)
    return { by: 'number', reason: `different numbers: ${code} and ${other}`, values: new Set() }
  if (one.quantities.length > MAX_QUANTITIES || two.quantities.length > MAX_QUANTITIES) return undefined
  for (const measure of new Set(one.quantities.map((quantity) => quantity.measure))) {
    const a = one.quantities.filter((quantity) => quantity.measure === measure)
    const b = two.quantities.filter((quantity) => quantity.measure === measure)
    if (b.length === 0 || (a.length !== b.length && Math.min(a.length, b.length) > 1)) continue
    const compared = a.flatMap((left) =>
      b.flatMap((right) => {
        const excluded = countSameThing(pair, left, right, focus) ? areExclusive(left, right) : undefined
        return excluded === undefined ? [] : [{ left, right, excluded }]
      }),
    )
    const [first] = compared
    if (first === undefined || compared.some(({ excluded }) => !excluded) || doOtherNumbersDiffer(a, b, first)) continue
    const counted = first.left.counted !== '' && !pair.shared.has(first.left.counted) ? 1 : 0
    const values = new Set(
      pair.own.flat().filter(({ stem }) => [first.left.counted, first.right.counted].includes(stem)),
    )
    if (computeOverlap(pair, values, counted + (measure === 'count' ? 0 : 0.3)) < MIN_FACT_OVERLAP) continue
    found.push({ by: 'number', reason: `different numbers: ${first.left.shown} and ${first.right.shown}`, values })
  }
  // Two measures that differ together belong to two different things.
  return found.length === 1 ? found[0] : undefined
}

/**
 * Whether the other numbers differ as well: `boat 3 carries 13 sailors` and `boat 4 carries 14` are about two boats.
 */
function doOtherNumbersDiffer(
  a: readonly Quantity[],
  b: readonly Quantity[],
  { left, right }: { left: Quantity; right: Quantity },
): boolean {
  if (left.counted === '') return false
  const [x, y] = [a.filter((one) => one !== left), b.filter((one) => one !== right)]
  return x.length > 0 && y.length > 0 && x.every((one) => y.every((other) => areExclusive(one, other) === true))
}

/** Numbers of a label that neither count nor measure: a telephone number, a code. */
function getCode({ value, quantities }: Statement): string | undefined {
  const isCode = value?.size === 0 && quantities.every(({ measure, counted }) => measure === 'count' && counted === '')
  return isCode && quantities.length > 1 ? quantities.map(({ shown }) => shown).join(' ') : undefined
}

/** Whether both count the same thing, or each counts something that the question or the other statement names. */
function countSameThing(
  { one, two }: StatementPair,
  left: Quantity,
  right: Quantity,
  { stems }: QuestionFocus,
): boolean {
  if (left.measure !== 'count') return true
  if (left.counted === right.counted && left.counted !== '') return true
  if ([one, two].some(({ quantities }) => quantities.filter(({ measure }) => measure === 'count').length > 1))
    return false
  const isNamed = (counted: string, other: Statement): boolean =>
    counted === '' || stems.has(counted) || other.stems.has(counted)
  return isNamed(left.counted, two) && isNamed(right.counted, one)
}

function compareOpposites(pair: StatementPair): StatementDisagreement | undefined {
  const { one, two, own } = pair
  for (const [scale, left] of one.ends) {
    const right = two.ends.get(scale)
    if (right === undefined || right.end === left.end || (left.isWeak && right.isWeak)) continue
    const values = new Set(own.flat().filter(({ shown }) => shown === left.shown || shown === right.shown))
    if (computeOverlap(pair, values, 0.5) < MIN_DENIAL_OVERLAP) continue
    const isSame = left.shown.toLowerCase() === right.shown.toLowerCase()
    return isSame
      ? { by: 'negation', reason: 'negation', values }
      : { by: 'opposite', reason: `opposites: ${left.shown} and ${right.shown}`, values }
  }
  const isFree = ({ ends, quantities }: Statement): boolean =>
    [...ends.values()].some(
      ({ shown, end }) => end === 1 && /^(?:free|gratis|kostenlos|gratuit|gratuito)$/iu.test(shown),
    ) && !quantities.some(isMoney)
  const price = (isFree(one) ? two : isFree(two) ? one : undefined)?.quantities.find(
    (one) => isMoney(one) && one.high > 0,
  )
  if (price === undefined || computeOverlap(pair, undefined, 0.5) < MIN_FACT_OVERLAP) return undefined
  return { by: 'opposite', reason: `opposites: free and ${price.shown}`, values: new Set() }
}

function compareDenials(pair: StatementPair): StatementDisagreement | undefined {
  const { one, two, own } = pair
  if (one.isDenied === two.isDenied) {
    if (one.isDenied || computeOverlap(pair) < MIN_DENIAL_OVERLAP) return undefined
    const turned = own[0].flatMap((left) =>
      own[1]
        .filter((right) => differByNegatingPrefix(left.shown.toLowerCase(), right.shown.toLowerCase()))
        .flatMap((right) => [left, right]),
    )
    return turned.length === 0 ? undefined : { by: 'negation', reason: 'negation', values: new Set(turned) }
  }
  if ([...one.ends].some(([scale, { end }]) => two.ends.get(scale)?.end === end)) return undefined
  const [denying, stating] = one.isDenied ? [one, two] : [two, one]
  if (computeOverlap(pair) < MIN_DENIAL_OVERLAP) return undefined
  // A denial for one case only says nothing about other cases.
  const narrower = own[denying === one ? 0 : 1].filter(({ isVerbal }) => !isVerbal)
  if (narrower.length > 1) return undefined
  const isLimited =
    denying.quantities.length > stating.quantities.length || denying.moments.length > stating.moments.length
  return isLimited ? undefined : { by: 'negation', reason: 'negation', values: new Set() }
}

function compareDates(pair: StatementPair, focus: QuestionFocus): StatementDisagreement | undefined {
  const { one, two } = pair
  if (one.moments.length === 0 || two.moments.length === 0) return undefined
  if (one.moments.some((left) => two.moments.some((right) => !areDifferentDays(left, right)))) return undefined
  const isLabelled = one.value !== undefined && two.value !== undefined
  if (!isLabelled && !focus.asksWhen && computeOverlap(pair) < MIN_DENIAL_OVERLAP) return undefined
  if (computeOverlap(pair) < MIN_FACT_OVERLAP) return undefined
  // Two verbs are two events, each with its year.
  const areYears = [...one.moments, ...two.moments].every(({ year }) => year !== undefined)
  if (areYears && pair.own.every((words) => words.some(({ isVerbal }) => isVerbal))) return undefined
  return {
    by: 'date',
    reason: `different dates: ${formatMoments(one.moments)} and ${formatMoments(two.moments)}`,
    values: new Set(),
  }
}

/** Compares names: one value replaces the other's where a fact has a single value, by its label or by the question. */
function compareNames(pair: StatementPair, focus: QuestionFocus): StatementDisagreement | undefined {
  const { one, two, own } = pair
  if (one.isDenied || two.isDenied) return undefined
  if (one.quantities.some((left) => two.quantities.some((right) => areExclusive(left, right) === true)))
    return undefined
  const [a, b] = [readValue(pair, 0), readValue(pair, 1)]
  if (a.length === 0 || b.length === 0 || a.length > MAX_VALUE_WORDS || b.length > MAX_VALUE_WORDS) return undefined
  const values = new Set([...a, ...b])
  if ([...values].some(({ stem }) => focus.stems.has(stem))) return undefined
  const areLabelled = one.value !== undefined && two.value !== undefined
  const isLong = Math.max(one.words.length, two.words.length) > MAX_NAMING_WORDS
  if (!areLabelled && (!focus.asksOne || isLong)) return undefined
  const rest = own.map((words) => words.filter((word) => !values.has(word) && !word.isVerbal).length)
  if (Math.min(...rest) > 0 || Math.max(...rest) > MAX_OTHER_WORDS || computeOverlap(pair, values) < MIN_DENIAL_OVERLAP)
    return undefined
  const [left, right] = [a, b].map((words) => words.map(({ shown }) => shown).join(' '))
  return { by: 'alternative', values, reason: `different names: ${left} and ${right}` }
}

/** Words of the value: after a label, all that follow; in a clause its names, or else what follows the verb. */
function readValue({ one, two, own }: StatementPair, side: 0 | 1): readonly StatementWord[] {
  const statement = side === 0 ? one : two
  const other = side === 0 ? two : one
  const things = own[side].filter(({ isVerbal }) => !isVerbal)
  if (statement.value !== undefined) {
    // a value that the other repeats in part is the same, in other words
    if ([...statement.value].some((stem) => (other.value ?? other.stems).has(stem))) return []
    return things.filter(({ isSubject }) => !isSubject)
  }
  const names = things.filter(({ isName }) => isName)
  const run = names.length > 0 ? names : things
  const isOneRun = run.every(({ index }, i) => i === 0 || index - (run[i - 1]?.index ?? index) <= 2)
  return isOneRun && run.every(({ isSubject }) => isSubject === run[0]?.isSubject) ? run : []
}
