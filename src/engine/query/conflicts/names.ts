import type { Found, Pair } from './pair.js'
import { isSameFact, isVerbal } from './pair.js'
import { exclude } from './quantities.js'
import { type Statement, stemOf, vocabulary, type Word } from './statements.js'

/** Words that may stand in the place of a name. */
const LONGEST_NAME = 4

/** The same said of another: hosted in Frankfurt, hosted in Dublin; founded by one, founded by another. */
export function byName(pair: Pair): Found | undefined {
  const { one, two, own, asked } = pair
  const { sharedDoing } = vocabulary()
  if (one.words.some(({ isDenied }) => isDenied) || two.words.some(({ isDenied }) => isDenied)) return undefined
  // where numbers differ, the names say of what
  if (one.quantities.some((left) => two.quantities.some((right) => exclude(left, right) === true))) return undefined
  const slots = [slotOf(own[0]), slotOf(own[1])] as const
  const [a, b] = slots
  if (a === undefined || b === undefined) return undefined
  const values = new Set([...a.words, ...b.words])
  if ([...values].some(({ concept }) => asked.concepts.has(concept))) return undefined
  // each has something of its own beside the name: they speak of different things
  const rest = own.map((words) => words.filter((word) => !values.has(word) && !isVerbal(word)))
  if (Math.min(...rest.map((words) => words.length)) > 0) return undefined
  if (!isSameFact(pair, values)) return undefined
  const doing = [...pair.shared, stemOf(one.verb), stemOf(two.verb)]
  if (doing.some((concept) => sharedDoing.has(concept)) || !excludesOthers(pair, a, b)) return undefined
  const [left, right] = [a, b].map(({ words }) => words.map(({ shown }) => shown).join(' '))
  return {
    by: 'name',
    values: [...values].map(({ shown }) => shown.toLowerCase()),
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
  if (doers) return mentionsDoer || has(soleDoer) || asked.asksWho
  if (a.isSubject || b.isSubject) return false
  if (has(soleObject) || (isPlace(one, a) && isPlace(two, b))) return true
  const isPlain = one.words.length === two.words.length && a.isNamed && b.isNamed
  return isPlain && shared.size >= 2
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
