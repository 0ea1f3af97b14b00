import { apart, type Moment } from './dates.js'
import { byName } from './names.js'
import { type AskedOf, type Found, isSameFact, isVerbal, otherSubject, ownOf, type Pair, support } from './pair.js'
import { exchanged } from './parallel.js'
import { exclude, type Quantity } from './quantities.js'
import { type OtherFact, otherScope } from './scope.js'
import { type Statement, stemOf, vocabulary, type Word } from './statements.js'
import { MONEY } from './units.js'

/** What two statements are to each other, in what they disagree, and by which words (in lower case). */
export type Relation = ({ kind: 'conflict'; reason: string } | OtherFact) & Pick<Found, 'by' | 'values'>

/** A denial needs nearly the same words. */
const SAME_BUT_DENIED = 0.6
/** A sentence of more numbers is a table in words: which of them belong together is not known. */
const MOST_QUANTITIES = 4

/** @returns undefined where the two do not speak of the same, or agree */
export function relationOf(
  one: Statement,
  two: Statement,
  { asked, titles }: { asked: AskedOf; titles: readonly [ReadonlySet<string>, ReadonlySet<string>] },
): Relation | undefined {
  if (one.sentence === two.sentence) return undefined
  const shared = new Set([...one.concepts].filter((concept) => two.concepts.has(concept)))
  if (shared.size === 0) return undefined
  if (![...shared].some((concept) => asked.concepts.has(concept))) return undefined
  const pair: Pair = {
    one,
    two,
    asked,
    shared,
    own: [ownOf(one, two, titles[1]), ownOf(two, one, titles[0])],
  }
  const found = byNumber(pair) ?? byScale(pair) ?? byDenial(pair) ?? byDate(pair) ?? byName(pair)
  if (found === undefined) return undefined
  const { by, values } = found
  if (by !== 'name' && by !== 'turned' && hasExchanged(pair))
    return { kind: 'other', reason: 'about different things', by, values }
  const isAsked = (word: string): boolean => asked.concepts.has(vocabulary().concept(word))
  const other =
    otherScope(one.scope(), two.scope(), isAsked, (word) => values.includes(word)) ??
    (by === 'date' ? undefined : otherTime(one, two))
  return { ...(other ?? { kind: 'conflict', reason: found.reason }), by, values }
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

/** Each adds a thing of its own: allowed in one place, forbidden in another. */
function otherThing({ own, shared }: Pair): boolean {
  const [a = 0, b = 0] = own.map((words) => words.filter((word) => !isVerbal(word)).length)
  return Math.min(a, b) > 0 && Math.min(a, b) >= shared.size / 2
}

function byNumber(pair: Pair): Found | undefined {
  const found: Found[] = []
  const { one, two } = pair
  if (one.quantities.length > MOST_QUANTITIES || two.quantities.length > MOST_QUANTITIES) return undefined
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
  if (!isOnce && !isDay && !asked.asksWhen) return undefined
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
