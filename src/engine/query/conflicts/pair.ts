import { type Statement, vocabulary, type Word } from './statements.js'

/** What is asked: its concepts, and whether it asks for a time or for who did it. */
export interface AskedOf {
  concepts: ReadonlySet<string>
  asksWhen: boolean
  asksWho: boolean
}

/** Two statements that hold something of what is asked. */
export interface Pair {
  one: Statement
  two: Statement
  asked: AskedOf
  shared: ReadonlySet<string>
  /** words of each that the other has not */
  own: readonly [Word[], Word[]]
}

/** In what two statements disagree. */
export interface Found {
  by: 'number' | 'scale' | 'denial' | 'turned' | 'date' | 'name'
  reason: string
  /** words that the two differ in, in lower case */
  values: string[]
}

/**
 * How much two statements must share to be of the same fact, 0 to 1. Found, as what follows, on the tuned pairs of
 * `bench/meaning/contradictions.ts`.
 */
const SAME_FACT = 0.5
/** What a word that only one side has costs, where the other has one of its own, and where it has not. */
const OWN_ON_BOTH = 0.7
const OWN_ON_ONE = 0.12

/** Words of one that the other, and its title, have not. */
export function ownOf(one: Statement, two: Statement, title: ReadonlySet<string>): Word[] {
  const scales = new Set(two.ends.keys())
  const { opposite } = vocabulary()
  return one.words.filter(({ concept, stem }) => {
    if (two.concepts.has(concept) || title.has(concept)) return false
    const scale = opposite(stem)
    return scale === undefined || !scales.has(scale.scale)
  })
}

/** 0 to 1: shared words against those of one side alone; `except` are what the two differ in. */
export function support({ shared, own: [a, b] }: Pair, except: ReadonlySet<Word> = new Set(), more = 0): number {
  const left = a.filter((word) => !except.has(word)).length
  const right = b.filter((word) => !except.has(word)).length
  const common = shared.size + more
  return common / (common + OWN_ON_BOTH * Math.min(left, right) + OWN_ON_ONE * Math.abs(left - right))
}

export function isSameFact(pair: Pair, except?: ReadonlySet<Word>, more = 0): boolean {
  return support(pair, except, more) >= SAME_FACT && !otherSubject(pair, except) && !otherMeasure(pair)
}

/** Each has a subject that the other does not speak of. */
export function otherSubject({ own: [a, b] }: Pair, except?: ReadonlySet<Word>): boolean {
  const isSubject = (word: Word): boolean => word.isSubject && except?.has(word) !== true && !isVerbal(word)
  const bySubject = a.some(isSubject) && b.some(isSubject)
  const isNamed = (word: Word): boolean => word.isName && except?.has(word) !== true
  return bySubject || (a.some(isNamed) && b.some(isNamed))
}

export function isVerbal({ shown, isName, isNoun }: Word): boolean {
  return !isName && !isNoun && vocabulary().isVerb(shown.toLowerCase())
}

/** Each measures something else, or tells of another event. */
function otherMeasure({ own: [a, b] }: Pair): boolean {
  const { measures, once, lastDay, events } = vocabulary()
  const differ = (set: ReadonlySet<string>): boolean =>
    a.some(({ concept }) => set.has(concept)) && b.some(({ concept }) => set.has(concept))
  const isLastDay = [...a, ...b].every(({ concept }) => !once.has(concept) || lastDay.has(concept))
  return differ(measures) || differ(events) || (differ(once) && !isLastDay)
}
