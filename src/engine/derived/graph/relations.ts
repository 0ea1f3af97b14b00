import { amountAt } from './amounts.js'
import { isUnsaid, objectsAfter, subjectBefore } from './clauses.js'
import type { FoundEntity } from './entities.js'
import type { Phrase, Sentence } from './phrases.js'
import { type Predicate, type StateTrigger, TRIGGERS, type Trigger, type VerbTrigger } from './predicates.js'
import { type Relate, relateEvent, relateRole } from './roles.js'
import { isCapitalised, tokensOf } from './tokens.js'

/** One end of a relation that a sentence states. */
export type End = Pick<Phrase, 'name' | 'at'> & { mention?: FoundEntity; key?: string }

/** A relation that a sentence states. */
export interface Statement {
  subject: End
  predicate: Predicate
  object: End
}

/** An earlier relation of a sentence, for a second verb of the same subject. */
interface Said {
  subject: Phrase
  object: Phrase
}

const wordsOf = (text: string): string[] => text.split(/\s+/)
const BY_WORD = new Map<string, Trigger[]>()
for (const trigger of TRIGGERS)
  for (const word of wordsOf(trigger.words)) BY_WORD.set(word, [...(BY_WORD.get(word) ?? []), trigger])
const COST = 'costs?|priced|sells|retails|price|fee|fare|charge'
const BORN = 'born'
const ANY_TRIGGER = new RegExp(`\\b(?:${[...BY_WORD.keys()].join('|')}|${COST}|${BORN})(?!\\w)`, 'g')
const BE = /^(?:is|are|was|were|be|been|being|became|becomes|remains)$/
const PARTICIPLE = /(?:ed|bought|taken|led|run|built|made|set|written|found|born)$/
const PAST = /^(?:bought|took|taken|led|ran|built|made|set|wrote|written|gave)$/
const MODAL = /^(?:can|may|do|does|did|will|shall|must)$/
const IRREGULAR_PLURAL =
  /^(?:people|children|men|women|mice|data|bacteria|media|criteria|police|feet|teeth|geese|fungi|algae|we|they)$/
/** Ways lead to places and cause nothing. */
const WAY =
  /\b(?:roads?|paths?|streets?|doors?|stairs?|staircase|bridges?|tracks?|routes?|trails?|links?|tunnels?|gates?|lanes?|passages?|corridors?)$/iu
/** A longer sentence is a list, or not a sentence. */
const MOST_TOKENS = 90

/**
 * Finds the relations that a text states between its entities, in order, by verbs and nouns. Sentences without one of
 * those words cost only the search.
 *
 * @param sentences ranges of the text's sentences
 */
export function findStatements(
  text: string,
  sentences: readonly { start: number; end: number }[],
  mentions: readonly FoundEntity[],
): Statement[] {
  const statements: Statement[] = []
  let done = -1
  for (const match of text.matchAll(ANY_TRIGGER)) {
    const place = sentences.findIndex(({ start, end }) => match.index >= start && match.index < end)
    const span = sentences[place]
    if (span === undefined || place === done) continue
    done = place
    const sentence = { text, mentions, tokens: tokensOf(text, span.start, span.end, mentions) }
    if (sentence.tokens.length <= MOST_TOKENS) statements.push(...statedIn(sentence))
  }
  return statements
}

function statedIn(sentence: Sentence): Statement[] {
  const statements: Statement[] = []
  const said: Said[] = []
  const relate: Relate = (subject, predicate, object) => {
    if (subject.at === object.at || subject.name === object.name) return
    statements.push({ subject, predicate, object })
    if ('last' in object && subject.first < object.first) said.push({ subject, object })
  }
  for (const [place, token] of sentence.tokens.entries()) {
    if (token.possessive || !token.isWord) continue
    for (const trigger of BY_WORD.get(token.lower) ?? []) readTrigger(sentence, place, trigger, relate, said)
    if (token.lower === BORN) readBirth(sentence, place, relate)
    if (/^(?:costs?|priced|sells|retails|price|fee|fare|charge)$/.test(token.lower)) readCost(sentence, place, relate)
  }
  return statements
}

function readTrigger(sentence: Sentence, place: number, trigger: Trigger, relate: Relate, said: readonly Said[]): void {
  const token = sentence.tokens[place]
  if (token === undefined || isUnsaid(sentence, place)) return
  if (trigger.kind === 'role') relateRole(sentence, place, trigger, relate)
  else if (token.mention !== undefined && isCapitalised(token.text)) return
  else if (trigger.kind === 'event') relateEvent(sentence, place, trigger, relate)
  else if (trigger.kind === 'verb') readVerb(sentence, place, trigger, relate, said)
  else readState(sentence, place, trigger, relate)
}

function pairs(lefts: readonly Phrase[], rights: readonly Phrase[], work: (left: Phrase, right: Phrase) => void): void {
  for (const left of lefts) for (const right of rights) work(left, right)
}

/** `X acquired Y`, `Y was acquired by X`, `Y, acquired by X in May, …` */
function readVerb(
  sentence: Sentence,
  place: number,
  trigger: VerbTrigger,
  relate: Relate,
  said: readonly Said[],
): void {
  const { tokens } = sentence
  const particle = trigger.next === undefined ? 0 : 1
  const next = tokens[place + 1]?.lower ?? ''
  if (trigger.next !== undefined && !wordsOf(trigger.next).includes(next)) return
  // `led to` is not leading, `used to depend` not use
  if (particle === 0 && /^(?:to|in|from|that|how|what|whether)$/.test(next)) return
  const isPassive = tokens[place + 1 + particle]?.lower === 'by' && PARTICIPLE.test(tokens[place]?.lower ?? '')
  if (isPassive && trigger.active === true) return
  const [left, right] =
    isPassive === (trigger.swap === true) ? [trigger.subject, trigger.object] : [trigger.object, trigger.subject]
  const reduced = isPassive && tokens[place - 1]?.lower === ',' ? place - 1 : place
  const objects = objectsAfter(sentence, place + 1 + particle + (isPassive ? 1 : 0), right)
  // the agent of a replacement is not the replacement
  if (!isPassive && trigger.predicate === 'replaced' && readReplacedWith(sentence, objects, relate)) return
  const subject = subjectBefore(sentence, reduced, left, isPassive && reduced === place)
  const subjects = subject?.phrases ?? subjectsOfFirstVerb(sentence, place, said)
  if (!isPassive && !agrees(sentence, place, subjects, subject?.between ?? [])) return
  if (trigger.predicate === 'caused' && !isEffect(sentence, subjects, objects)) return
  const swap = isPassive !== (trigger.swap === true)
  pairs(subjects, objects, (a, b) => (swap ? relate(b, trigger.predicate, a) : relate(a, trigger.predicate, b)))
}

/** The subject of the second verb of `X founded Y and bought Z`. */
function subjectsOfFirstVerb({ tokens }: Sentence, verb: number, said: readonly Said[]): Phrase[] {
  if (tokens[verb - 1]?.lower !== 'and') return []
  const last = tokens[verb - 2]?.lower === ',' ? verb - 3 : verb - 2
  return said.filter(({ object }) => object.last === last).map(({ subject }) => subject)
}

/** Whether a word is the verb of its subject, not a noun or participle of the same form: `drug use disorders`. */
function agrees({ tokens }: Sentence, verb: number, subjects: readonly Phrase[], between: readonly string[]): boolean {
  const { lower = '' } = tokens[verb] ?? {}
  const [only] = subjects
  if (only === undefined || between.some((word) => BE.test(word))) return false
  const last = tokens[only.last]?.lower ?? ''
  if (lower.endsWith('ed') || PAST.test(lower)) return only.first !== only.last || !last.endsWith('ing')
  const isPlural = subjects.length > 1 || IRREGULAR_PLURAL.test(last) || /[^suix]s$/.test(last)
  if (lower.endsWith('s')) return only.isName || !isPlural
  return isPlural || between.some((word) => MODAL.test(word))
}

/**
 * Whether the objects are an effect; not in `The road leads to the harbour` and `the load causes the plate to bend`.
 */
function isEffect({ tokens }: Sentence, subjects: readonly Phrase[], objects: readonly Phrase[]): boolean {
  const after = tokens[(objects.at(-1)?.last ?? 0) + 1]?.lower ?? ''
  return !subjects.some(({ name }) => WAY.test(name)) && after !== 'to' && !/^\p{Ll}+ing$/u.test(after)
}

/** `They replaced X with Y`: Y replaced X. */
function readReplacedWith(sentence: Sentence, replaced: readonly Phrase[], relate: Relate): boolean {
  const last = replaced.at(-1)
  if (last === undefined || sentence.tokens[last.last + 1]?.lower !== 'with') return false
  pairs(replaced, objectsAfter(sentence, last.last + 2, 'any'), (old, fresh) => relate(fresh, 'replaced', old))
  return true
}

/** `X is located in Y`, `X, based in Y, …` */
function readState(sentence: Sentence, place: number, trigger: StateTrigger, relate: Relate): void {
  const { tokens } = sentence
  if (!wordsOf(trigger.next).includes(tokens[place + 1]?.lower ?? '')) return
  const isReduced = tokens[place - 1]?.lower === ','
  const subject = subjectBefore(sentence, isReduced ? place - 1 : place, isReduced ? 'name' : trigger.subject)
  if (subject === undefined) return
  const objects = objectsAfter(sentence, place + 2, trigger.object)
  const swap = trigger.predicate === 'part_of'
  pairs(subject.phrases, objects, (a, b) => (swap ? relate(b, trigger.predicate, a) : relate(a, trigger.predicate, b)))
}

/** `X was born in Y`, `X was born on 3 May 1950 in Y` */
function readBirth(sentence: Sentence, place: number, relate: Relate): void {
  const { tokens } = sentence
  if (isUnsaid(sentence, place)) return
  const isReduced = /^[,(]$/.test(tokens[place - 1]?.text ?? '')
  const subject = subjectBefore(sentence, isReduced ? place - 1 : place, 'name')
  for (let at = place + 1; subject !== undefined && at < place + 9; at++) {
    const word = tokens[at]?.lower ?? ''
    if (!/^(?:in|at|near)$/.test(word) || /^\d/.test(tokens[at + 1]?.text ?? '')) continue
    const [town] = objectsAfter(sentence, at + 1, 'name')
    if (town !== undefined && town.mention?.type !== 'date')
      for (const one of subject.phrases) relate(one, 'born_in', town)
    return
  }
}

/** `X costs two euros`, `the price of X is $5`, `X is priced at £3` */
function readCost(sentence: Sentence, place: number, relate: Relate): void {
  const { tokens } = sentence
  if (isUnsaid(sentence, place)) return
  const { lower = '' } = tokens[place] ?? {}
  const next = tokens[place + 1]?.lower ?? ''
  if (/^(?:price|cost|fee|fare|charge)$/.test(lower) && /^(?:of|for)$/.test(next)) {
    const [thing] = objectsAfter(sentence, place + 2, 'any')
    if (thing === undefined || !BE.test(tokens[thing.last + 1]?.lower ?? '')) return
    const amount = amountAt(sentence, thing.last + 2)
    if (amount !== undefined) relate(thing, 'costs', amount)
    return
  }
  if (!/^(?:costs?|priced|sells|retails)$/.test(lower)) return
  const skip = /^(?:at|for|only|about|around|just)$/.test(next) ? 1 : 0
  const amount = amountAt(sentence, place + 1 + skip)
  const subject = amount === undefined ? undefined : subjectBefore(sentence, place, 'any')
  if (amount !== undefined) for (const one of subject?.phrases ?? []) relate(one, 'costs', amount)
}
