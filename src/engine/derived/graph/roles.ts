import type { Amount } from './amounts.js'
import { objectsAfter, subjectBefore } from './clauses.js'
import { DETERMINERS, isFunctionWord, VERBS } from './function-words.js'
import { boundBefore, isPreposition, type Phrase, phraseAfter, phraseBefore, type Sentence } from './phrases.js'
import type { EventTrigger, Predicate, RoleTrigger } from './predicates.js'

const BE = /^(?:is|are|was|were|became|becomes|remains|remained|been)$/
/** Words before a role that change or negate it. */
const UNDONE =
  /^(?:vice|deputy|assistant|acting|former|ex|proposed|planned|possible|potential|failed|attempted|honorary|would-be|likely|intended|pending)$/
/** A minister or an officer leads only a part; with these words before it, the role leads all of it. */
const NEEDED: Readonly<Record<string, RegExp>> = {
  minister: /^(?:prime|first)$/,
  executive: /^chief$/,
  officer: /^(?:executive|operating|commanding)$/,
}
const MODIFIERS = 4

/** Start of a role's words, and what precedes them. */
interface RoleStart {
  /** index of the token before the role's words and its article */
  before: number
  undone: boolean
  /** index of the last token of what the role belongs to, where that comes first: `Acme's founder` */
  possessor: number | undefined
}

/** `X is the founder of Y`, `X, founder of Y, …`, `the founder of Y is X`, `Y's founder X` */
export function relateRole(sentence: Sentence, place: number, trigger: RoleTrigger, relate: Relate): void {
  const { tokens } = sentence
  const start = roleStart(sentence, place)
  const needed = NEEDED[tokens[place]?.lower ?? '']
  if (start.undone || (needed !== undefined && !needed.test(tokens[place - 1]?.lower ?? ''))) return
  const say = (holder: Phrase, of: Phrase): void =>
    trigger.swap === true ? relate(of, trigger.predicate, holder) : relate(holder, trigger.predicate, of)
  if (start.possessor !== undefined) {
    const of = phraseBefore(sentence, start.possessor)
    if (of === undefined || (trigger.object === 'name' && !of.isName) || isPreposition(boundBefore(sentence, of)))
      return
    for (const holder of holdersAround(sentence, of.first - 1, place, trigger)) say(holder, of)
    return
  }
  if (!trigger.next.split(' ').includes(tokens[place + 1]?.lower ?? '')) return
  const objects = objectsAfter(sentence, place + 2, trigger.object)
  const last = objects.at(-1)
  if (last === undefined) return
  for (const holder of holdersAround(sentence, start.before, last.last, trigger))
    for (const of of objects) say(holder, of)
}

function roleStart({ tokens }: Sentence, place: number): RoleStart {
  let before = place - 1
  let undone = false
  for (let count = 0; count < MODIFIERS; count++, before--) {
    const token = tokens[before]
    if (token === undefined || !token.isWord) break
    if (UNDONE.test(token.lower)) undone = true
    if (token.possessive) return { before, undone, possessor: before }
    if (token.lower === 'and' && tokens[before - 1]?.isWord) continue
    if (isFunctionWord(token.lower) || VERBS.has(token.lower)) break
  }
  while (
    DETERMINERS.has(tokens[before]?.lower ?? '') ||
    /^(?:of|as|currently|now|also|still)$/.test(tokens[before]?.lower ?? '')
  )
    before--
  return { before, undone, possessor: undefined }
}

/** The holders of a role: named before its words (`X is …`, `X, …`), or after them (`… is X`, `…, X,`, `… X`). */
function holdersAround(sentence: Sentence, before: number, after: number, trigger: RoleTrigger): Phrase[] {
  const { tokens } = sentence
  const word = tokens[before]?.lower ?? ''
  if (BE.test(word)) return subjectBefore(sentence, before + 1, trigger.subject)?.phrases ?? []
  if (word === ',' || word === '(') {
    const holder = phraseBefore(sentence, before - 1)
    if (holder?.isName === true && !isPreposition(boundBefore(sentence, holder))) return [holder]
  }
  if (before >= 0 && !/^[,;:—–-]$|^(?:and|but|that)$/.test(word) && !isPreposition(word)) return []
  return holdersAfter(sentence, after, trigger)
}

function holdersAfter(sentence: Sentence, after: number, trigger: RoleTrigger): Phrase[] {
  const { tokens } = sentence
  const next = tokens[after + 1]
  if (next === undefined) return []
  if (BE.test(next.lower)) return objectsAfter(sentence, after + 2, 'name').slice(0, 1)
  if (next.text === ',') {
    const holder = phraseAfter(sentence, after + 2, 'name')
    const close = tokens[(holder?.last ?? after) + 1]
    return holder?.isName === true && (close === undefined || close.text === ',' || close.text === '.') ? [holder] : []
  }
  // `Acme's founder Ada Park`
  const holder =
    trigger.subject === 'name' && next.mention !== undefined ? phraseAfter(sentence, after + 1, 'name') : undefined
  return holder?.isName === true ? [holder] : []
}

/** `Y's acquisition of X`, `the acquisition of X by Y` */
export function relateEvent(sentence: Sentence, place: number, trigger: EventTrigger, relate: Relate): void {
  const { tokens } = sentence
  if (tokens[place + 1]?.lower !== 'of') return
  const start = roleStart(sentence, place)
  if (start.undone) return
  const objects = objectsAfter(sentence, place + 2, trigger.object)
  const last = objects.at(-1)
  if (last === undefined) return
  const doers =
    start.possessor !== undefined
      ? [phraseBefore(sentence, start.possessor)]
      : trigger.by.split(' ').includes(tokens[last.last + 1]?.lower ?? '')
        ? objectsAfter(sentence, last.last + 2, trigger.subject)
        : []
  for (const doer of doers)
    if (doer !== undefined && (doer.isName || trigger.subject === 'any'))
      for (const object of objects) relate(doer, trigger.predicate, object)
}

export type Relate = (subject: Phrase, predicate: Predicate, object: Phrase | Amount) => void
