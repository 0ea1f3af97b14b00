import { apart, type Moment } from './dates.js'
import { exchanged } from './parallel.js'
import { exclude, type Quantity } from './quantities.js'
import { type OtherFact, otherScope } from './scope.js'
import { type Statement, stemOf, vocabulary, type Word } from './statements.js'
import { MONEY } from './units.js'

/** What two statements are to each other. */
export type Relation = { kind: 'conflict'; reason: string } | OtherFact

/** What is asked, where there is a question: its concepts, and whether it asks for a time. */
export interface AskedOf {
  concepts: ReadonlySet<string>
  asksWhen: boolean
  asksWho: boolean
}

/**
 * How much two statements must share to be of the same fact, 0 to 1; less where both hold what is asked. Found on the
 * tuned half of `bench/meaning/data/contradictions.jsonl`.
 */
const SAME_FACT = 0.62
const SAME_FACT_ASKED = 0.5
/** What a word that only one side has costs, where the other has one of its own, and where it has not. */
const OWN_ON_BOTH = 0.7
const OWN_ON_ONE = 0.12
/** A denial needs nearly the same words. */
const SAME_BUT_DENIED = 0.6
/** Words that may stand in the place of a name. */
const LONGEST_NAME = 4

interface Pair {
  one: Statement
  two: Statement
  asked: AskedOf | undefined
  shared: Set<string>
  /** words of each that the other has not */
  own: [Word[], Word[]]
}

/** @returns undefined where the two do not speak of the same, or agree */
export function relationOf(
  one: Statement,
  two: Statement,
  context: { asked?: AskedOf; titles?: readonly [ReadonlySet<string>, ReadonlySet<string>] } = {},
): Relation | undefined {
  if (one.sentence === two.sentence) return undefined
  const { asked, titles } = context
  const shared = new Set([...one.concepts].filter((concept) => two.concepts.has(concept)))
  if (shared.size === 0) return undefined
  if (asked !== undefined && ![...shared].some((concept) => asked.concepts.has(concept))) return undefined
  const pair: Pair = {
    ...{ one, two, asked, shared },
    own: [ownOf(one, two, titles?.[1]), ownOf(two, one, titles?.[0])],
  }
  const found = byNumber(pair) ?? byScale(pair) ?? byDenial(pair) ?? byDate(pair) ?? byName(pair)
  if (found === undefined) return undefined
  if (found.by !== 'name' && found.by !== 'turned' && hasExchanged(pair))
    return { kind: 'other', reason: 'about different things' }
  const isAsked = (word: string): boolean => asked?.concepts.has(vocabulary().concept(word)) === true
  const other =
    otherScope(one.scope(), two.scope(), isAsked, (word) => found.values.includes(word)) ??
    (found.by === 'date' ? undefined : otherTime(one, two))
  return other ?? { kind: 'conflict', reason: found.reason }
}

interface Found {
  by: 'number' | 'scale' | 'denial' | 'turned' | 'date' | 'name'
  reason: string
  /** words that the two differ in, in lower case */
  values: string[]
}

function ownOf(one: Statement, two: Statement, title: ReadonlySet<string> | undefined): Word[] {
  const scales = new Set(two.ends.keys())
  const { opposite } = vocabulary()
  return one.words.filter(({ concept, stem }) => {
    if (two.concepts.has(concept) || title?.has(concept) === true) return false
    const scale = opposite(stem)
    return scale === undefined || !scales.has(scale.scale)
  })
}

/** 0 to 1: shared words against those of one side alone; `except` are what the two differ in. */
function support({ shared, own: [a, b] }: Pair, except: ReadonlySet<Word> = new Set(), more = 0): number {
  const left = a.filter((word) => !except.has(word)).length
  const right = b.filter((word) => !except.has(word)).length
  const common = shared.size + more
  return common / (common + OWN_ON_BOTH * Math.min(left, right) + OWN_ON_ONE * Math.abs(left - right))
}

function isSameFact(pair: Pair, except?: ReadonlySet<Word>, more = 0): boolean {
  const least = pair.asked === undefined ? SAME_FACT : SAME_FACT_ASKED
  if (pair.asked === undefined && pair.shared.size + more < 2) return false
  return support(pair, except, more) >= least && !otherSubject(pair, except) && !otherMeasure(pair)
}

/** In sentences of the same build each speaks of a thing of its own: the melting points of two metals. */
function hasExchanged({ one, two, own: [a, b] }: Pair): boolean {
  const [left, right] = [a, b].map(
    (words) => new Set(words.filter((word) => !isVerbal(word)).map(({ place }) => place)),
  )
  return exchanged(one.line, two.line).some(
    ([here, there]) => here.some((place) => left?.has(place)) && there.some((place) => right?.has(place)),
  )
}

/** Each has a subject that the other does not speak of. */
function otherSubject({ own: [a, b] }: Pair, except?: ReadonlySet<Word>): boolean {
  const isSubject = (word: Word): boolean => word.isSubject && except?.has(word) !== true && !isVerbal(word)
  const bySubject = a.some(isSubject) && b.some(isSubject)
  const isNamed = (word: Word): boolean => word.isName && except?.has(word) !== true
  return bySubject || (a.some(isNamed) && b.some(isNamed))
}

/** Each adds a thing of its own: allowed in one place, forbidden in another. */
function otherThing({ own, shared }: Pair): boolean {
  const [a = 0, b = 0] = own.map((words) => words.filter((word) => !isVerbal(word)).length)
  return Math.min(a, b) > 0 && Math.min(a, b) >= shared.size / 2
}

function isVerbal({ shown, isName, isNoun }: Word): boolean {
  return !isName && !isNoun && vocabulary().isVerb(shown.toLowerCase())
}

function otherMeasure({ own: [a, b] }: Pair): boolean {
  const { measures, once, lastDay, events } = vocabulary()
  const differ = (set: ReadonlySet<string>): boolean =>
    a.some(({ concept }) => set.has(concept)) && b.some(({ concept }) => set.has(concept))
  const isLastDay = [...a, ...b].every(({ concept }) => !once.has(concept) || lastDay.has(concept))
  return differ(measures) || differ(events) || (differ(once) && !isLastDay)
}

function byNumber(pair: Pair): Found | undefined {
  const found: Found[] = []
  const { one, two } = pair
  for (const measure of new Set(one.quantities.map((quantity) => quantity.measure))) {
    const a = one.quantities.filter((quantity) => quantity.measure === measure)
    const b = two.quantities.filter((quantity) => quantity.measure === measure)
    if (b.length === 0 || (a.length !== b.length && Math.min(a.length, b.length) > 1)) continue
    const compared = a.flatMap((left) =>
      b.flatMap((right) => {
        const excluded = countsTheSame(pair, left, right) ? exclude(left, right) : undefined
        return excluded === undefined ? [] : [{ left, right, excluded }]
      }),
    )
    const [first] = compared
    if (first === undefined || compared.some(({ excluded }) => !excluded)) continue
    const counted = first.left.counted !== '' && !pair.shared.has(first.left.counted) ? 1 : 0
    const more = counted + (measure === 'count' || measure === 'interval' ? 0 : 0.3)
    if (!isSameFact(pair, undefined, more)) continue
    const reason = `different numbers: ${first.left.shown} and ${first.right.shown}`
    found.push({ by: 'number', reason, values: [] })
  }
  // numbers of two measures that differ side by side: a fine for each speed
  return found.length === 1 ? found[0] : undefined
}

/** The same is counted, or one does not say what, and the other speaks of it. */
function countsTheSame({ one, two }: Pair, left: Quantity, right: Quantity): boolean {
  if (left.measure !== 'count') return true
  const { concept } = vocabulary()
  const people = concept('peopl')
  if (left.counted === right.counted && left.counted !== '') return true
  // a bare number may count anything, unless it is the only one
  if ([one, two].some(({ quantities }) => quantities.filter(({ measure }) => measure === 'count').length > 1))
    return false
  const speaks = (statement: Statement, counted: string): boolean =>
    counted === '' || counted === people || statement.concepts.has(counted)
  return speaks(two, left.counted) && speaks(one, right.counted)
}

/** Allowed and forbidden; free, and a price. */
function byScale(pair: Pair): Found | undefined {
  const { one, two } = pair
  for (const [scale, left] of one.ends) {
    const right = two.ends.get(scale)
    if (right === undefined || right.end === left.end || (left.isSubject && right.isSubject)) continue
    if (left.isWeak === true && right.isWeak === true) continue
    if (!isSameFact(pair, undefined, 0.5) || otherThing(pair) || one.scope().isStaged !== two.scope().isStaged) continue
    const values = [left.shown.toLowerCase(), right.shown.toLowerCase()]
    const kind = left.shown.toLowerCase() === right.shown.toLowerCase() ? 'negation' : 'opposites'
    return { by: 'scale', reason: kind === 'negation' ? kind : `${kind}: ${left.shown} and ${right.shown}`, values }
  }
  const paid = (statement: Statement): Quantity | undefined =>
    statement.quantities.find(({ measure, high }) => MONEY.has(measure) && high > 0)
  const isFree = (statement: Statement): boolean =>
    statement.ends.get('free')?.end === 1 && paid(statement) === undefined
  const price = isFree(one) ? paid(two) : isFree(two) ? paid(one) : undefined
  if (price === undefined || !isSameFact(pair, undefined, 0.5)) return undefined
  return { by: 'scale', reason: `opposites: free and ${price.shown}`, values: [] }
}

function byDenial(pair: Pair): Found | undefined {
  const { one, two } = pair
  if ((one.denied === undefined) === (two.denied === undefined))
    return one.denied === undefined && isTurned(pair) && support(pair) >= SAME_BUT_DENIED && isSameFact(pair)
      ? { by: 'turned', reason: 'negation', values: [] }
      : undefined
  const [denying, saying] = one.denied === undefined ? [two, one] : [one, two]
  const said = saying.words.find(({ concept }) => concept === denying.denied)
  if (said === undefined || said.isDenied) return undefined
  // of what is denied for a case only, nothing is said of other cases
  const narrower = pair.own[denying === one ? 0 : 1]
  if (narrower.length > 1 || support(pair) < SAME_BUT_DENIED || otherSubject(pair)) return undefined
  const isLimited =
    (denying.scope().isStaged && !saying.scope().isStaged) ||
    denying.quantities.length > saying.quantities.length ||
    denying.moments.length > saying.moments.length
  return isLimited && !denying.isNever ? undefined : { by: 'denial', reason: 'negation', values: [] }
}

const TURNING = /^(?:un|in|im|ir|il|dis|non|de)(?=\p{L}{4})/u

/** One has a word that the other has with a prefix that denies it: suitable, unsuitable. */
function isTurned({ own: [a, b] }: Pair): boolean {
  const { concept } = vocabulary()
  const turns = (long: readonly Word[], short: readonly Word[]): boolean =>
    long.some(({ shown }) => {
      const word = shown.toLowerCase()
      return TURNING.test(word) && short.some((other) => other.concept === concept(stemOf(word.replace(TURNING, ''))))
    })
  return turns(a, b) || turns(b, a)
}

function byDate(pair: Pair): Found | undefined {
  const { one, two, shared, asked } = pair
  if (one.moments.length === 0 || two.moments.length === 0) return undefined
  if (one.moments.some((left) => two.moments.some((right) => !apart(left, right)))) return undefined
  const { once } = vocabulary()
  const isOnce = [...shared].some((concept) => once.has(concept))
  const isDay = [...one.moments, ...two.moments].every(({ weekday }) => weekday !== undefined)
  if (!isOnce && !isDay && asked?.asksWhen !== true) return undefined
  if (!isSameFact(pair, undefined, isOnce ? 0.5 : 0)) return undefined
  // what comes again has a date each time
  if (!isOnce && !isDay && support(pair) < SAME_BUT_DENIED) return undefined
  return { by: 'date', reason: `different dates: ${shownDates(one)} and ${shownDates(two)}`, values: [] }
}

function shownDates({ moments }: Statement): string {
  return moments.map(({ shown }) => shown).join(', ')
}

/** Another time is another fact. */
function otherTime(one: Statement, two: Statement): OtherFact | undefined {
  const [a, b] = [one.moments, two.moments]
  const only = a.length === 0 ? b : b.length === 0 ? a : undefined
  if (only !== undefined) {
    const limit = only.find((moment) => moment.isLimit || moment.year !== undefined || moment.month !== undefined)
    return limit === undefined ? undefined : { kind: 'other', reason: `one speaks of ${limit.shown} alone` }
  }
  if (a.some((left) => b.some((right) => !apart(left, right)))) return undefined
  const years = (moments: readonly Moment[]): boolean => moments.some(({ year }) => year !== undefined)
  const kind = years(a) && years(b) ? 'newer' : 'other'
  return a.length === 0 ? undefined : { kind, reason: `another time: ${shownDates(one)}, ${shownDates(two)}` }
}

/** The same said of another: hosted in Frankfurt, hosted in Dublin; founded by one, founded by another. */
function byName(pair: Pair): Found | undefined {
  const { one, two, own, asked } = pair
  const { sharedDoing } = vocabulary()
  if (one.words.some(({ isDenied }) => isDenied) || two.words.some(({ isDenied }) => isDenied)) return undefined
  // where numbers differ, the names say of what
  if (one.quantities.some((left) => two.quantities.some((right) => exclude(left, right) === true))) return undefined
  const slots = [slotOf(own[0]), slotOf(own[1])] as const
  const [a, b] = slots
  if (a === undefined || b === undefined) return undefined
  const values = new Set([...a.words, ...b.words])
  if (asked !== undefined && [...values].some(({ concept }) => asked.concepts.has(concept))) return undefined
  // each has something of its own beside the name: they speak of different things
  const rest = own.map((words) => words.filter((word) => !values.has(word) && !isVerbal(word)))
  if (Math.min(...rest.map((words) => words.length)) > 0) return undefined
  if (!isSameFact(pair, values)) return undefined
  const doing = [...pair.shared, stemOf(one.verb), stemOf(two.verb)]
  if (doing.some((concept) => sharedDoing.has(concept)) || !excludesOthers(pair, a, b)) return undefined
  const [left, right] = [a, b].map(({ words }) => words.map(({ shown }) => shown).join(' '))
  return {
    ...{ by: 'name', values: [...values].map(({ shown }) => shown.toLowerCase()) },
    reason: `different names: ${left} and ${right}`,
  }
}

interface Slot {
  words: Word[]
  isNamed: boolean
  isSubject: boolean
}

/** The one run of words of a statement's own that stands for a name or value: its names, else all of them. */
function slotOf(own: readonly Word[]): Slot | undefined {
  const names = own.filter(({ isName }) => isName)
  const words = names.length > 0 ? names : own.filter((word) => !isVerbal(word))
  const [first] = words
  const last = words.at(-1)
  if (first === undefined || last === undefined || words.length > LONGEST_NAME) return undefined
  // names with another word between them are two names
  if (words.some(({ place }, at) => place - (words[at - 1]?.place ?? place) > 2)) return undefined
  if (words.some(({ isSubject }) => isSubject !== first.isSubject)) return undefined
  return { words, isNamed: names.length > 0, isSubject: words.every(({ isSubject }) => isSubject) }
}

/** Whether of the two values only one can hold. */
function excludesOthers({ one, two, shared, asked }: Pair, a: Slot, b: Slot): boolean {
  const { single, soleDoer, soleObject, alternative, concept } = vocabulary()
  if (isBroader(a) !== isBroader(b)) return false
  const has = (set: ReadonlySet<string>): boolean => [...shared].some((word) => set.has(word))
  const kinds = [a, b].map(({ words }) => words.map(({ stem }) => alternative(stem)).find((kind) => kind !== undefined))
  if (kinds[0] !== undefined && kinds[0] === kinds[1]) return !a.isSubject && !b.isSubject
  const isSingle =
    (has(single) || [one, two].every(isSuperlative)) && [one, two].every(({ verbAt }) => verbAt !== undefined)
  if (isSingle) return true
  const mentionsDoer = [one, two].every(({ words }) =>
    words.some((word) => soleDoer.has(word.concept) || word.concept === concept('novel')),
  )
  const doers = [a, b].every((slot, place) => slot.isSubject || followsBy(place === 0 ? one : two, slot))
  if (doers) return mentionsDoer || ((has(soleDoer) || asked?.asksWho === true) && asked !== undefined)
  if (a.isSubject || b.isSubject) return false
  if (has(soleObject) || (isPlace(one, a) && isPlace(two, b))) return true
  const isPlain = one.words.length === two.words.length && a.isNamed && b.isNamed
  return isPlain && asked !== undefined && shared.size >= 2
}

function isSuperlative({ line }: Statement): boolean {
  return line.some(({ key }) => /^(?:\p{L}{3,}est|only|best)$/u.test(key))
}

const BY = /^(?:by|von|durch)$/iu

function followsBy({ sentence }: Statement, { words }: Slot): boolean {
  const [first] = words
  if (first === undefined) return false
  const before = sentence
    .slice(0, Math.max(0, sentence.indexOf(first.shown)))
    .trim()
    .split(/\s+/u)
  return before.slice(-4).some((word) => BY.test(word))
}

/** `is in Hamburg`, `resides in our Dublin data centre`. */
function isPlace({ sentence }: Statement, { words }: Slot): boolean {
  const [first] = words
  const before = sentence.slice(0, Math.max(0, sentence.indexOf(first?.shown ?? '')))
  return /\b(?:based|hosted|located|stored|held|headquartered|written|made|built|resides?|lives?|liegt|gespeichert|(?:is|are|was|were) (?:now )?)\s?(?:in|at|of|from|on|with)(?: \p{Ll}+){0,2}\s*$/iu.test(
    before,
  )
}

const BROAD =
  /^(?:germany|france|italy|spain|portugal|austria|switzerland|poland|belgium|netherlands|denmark|sweden|norway|finland|ireland|england|scotland|wales|britain|uk|usa|us|america|canada|mexico|brazil|argentina|chile|china|japan|korea|india|indonesia|australia|zealand|egypt|kenya|nigeria|africa|europe|asia|eu|russia|ukraine|turkey|greece|hungary|romania|bavaria|texas|california|ohio|florida|deutschland|österreich|schweiz|frankreich|italien|spanien|europa|state|country|province|region)$/iu

/** A country beside a town says where the town is. */
function isBroader({ words }: Slot): boolean {
  return words.some(({ shown }) => BROAD.test(shown))
}
