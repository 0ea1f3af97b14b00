import { findAmountAt } from './amounts.js'
import { findObjectsAfter, findSubjectBefore, isNotAsserted } from './clauses.js'
import type { EntityMention } from './entities.js'
import { splitWords } from './function-words.js'
import type { NounPhrase, TokenizedSentence } from './phrases.js'
import { type Predicate, type RelationTrigger, type StateTrigger, TRIGGERS, type VerbTrigger } from './predicates.js'
import { type AddRelation, relateEvent, relateRole } from './roles.js'
import { isCapitalised, tokenize } from './tokens.js'

/** One end of a relation that a sentence states. */
export type RelationEnd = Pick<NounPhrase, 'name' | 'offset'> & { mention?: EntityMention; key?: string }

/** A relation that a sentence states. */
export interface StatedRelation {
  subject: RelationEnd
  predicate: Predicate
  object: RelationEnd
}

/** A sentence with its earlier relations, for a second verb of the same subject. */
interface StatementSentence extends TokenizedSentence {
  earlier: { subject: NounPhrase; object: NounPhrase }[]
}

const TRIGGERS_BY_WORD = new Map<string, RelationTrigger[]>()
for (const trigger of TRIGGERS)
  for (const word of splitWords(trigger.words))
    TRIGGERS_BY_WORD.set(word, [...(TRIGGERS_BY_WORD.get(word) ?? []), trigger])
const COST = 'costs?|priced|sells|retails|price|fee|fare|charge'
const BORN = 'born'
const ANY_TRIGGER = new RegExp(`\\b(?:${[...TRIGGERS_BY_WORD.keys()].join('|')}|${COST}|${BORN})(?!\\w)`, 'g')
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
const MAX_TOKENS = 90

/**
 * Finds the relations that a text states between its entities, in order, by verbs and nouns. Sentences without one of
 * those words cost only the search.
 *
 * @param sentences ranges of the text's sentences
 */
export function findStatements(
  text: string,
  sentences: readonly { start: number; end: number }[],
  mentions: readonly EntityMention[],
): StatedRelation[] {
  const statements: StatedRelation[] = []
  let lastSentence = -1
  for (const match of text.matchAll(ANY_TRIGGER)) {
    const index = sentences.findIndex(({ start, end }) => match.index >= start && match.index < end)
    const span = sentences[index]
    if (span === undefined || index === lastSentence) continue
    lastSentence = index
    const sentence = { text, mentions, tokens: tokenize(text, span.start, span.end, mentions), earlier: [] }
    if (sentence.tokens.length <= MAX_TOKENS) statements.push(...findStatementsIn(sentence))
  }
  return statements
}

function findStatementsIn(sentence: StatementSentence): StatedRelation[] {
  const statements: StatedRelation[] = []
  const relate: AddRelation = (subject, predicate, object) => {
    if (subject.offset === object.offset || subject.name === object.name) return
    statements.push({ subject, predicate, object })
    if ('last' in object && subject.first < object.first) sentence.earlier.push({ subject, object })
  }
  for (const [index, token] of sentence.tokens.entries()) {
    if (token.possessive || !token.isWord) continue
    for (const trigger of TRIGGERS_BY_WORD.get(token.lower) ?? []) readTrigger(sentence, index, trigger, relate)
    if (token.lower === BORN) readBirth(sentence, index, relate)
    if (/^(?:costs?|priced|sells|retails|price|fee|fare|charge)$/.test(token.lower)) readCost(sentence, index, relate)
  }
  return statements
}

function readTrigger(sentence: StatementSentence, index: number, trigger: RelationTrigger, relate: AddRelation): void {
  const token = sentence.tokens[index]
  if (token === undefined || isNotAsserted(sentence, index)) return
  if (trigger.kind === 'role') relateRole(sentence, index, trigger, relate)
  else if (token.mention !== undefined && isCapitalised(token.text)) return
  else if (trigger.kind === 'event') relateEvent(sentence, index, trigger, relate)
  else if (trigger.kind === 'verb') readVerb(sentence, index, trigger, relate)
  else readState(sentence, index, trigger, relate)
}

function forEachPair(
  lefts: readonly NounPhrase[],
  rights: readonly NounPhrase[],
  work: (left: NounPhrase, right: NounPhrase) => void,
): void {
  for (const left of lefts) for (const right of rights) work(left, right)
}

/** `X acquired Y`, `Y was acquired by X`, `Y, acquired by X in May, …` */
function readVerb(sentence: StatementSentence, index: number, trigger: VerbTrigger, relate: AddRelation): void {
  const { tokens } = sentence
  const particle = trigger.next === undefined ? 0 : 1
  const next = tokens[index + 1]?.lower ?? ''
  if (trigger.next !== undefined && !splitWords(trigger.next).includes(next)) return
  // `led to` is not leading, `used to depend` not use
  if (particle === 0 && /^(?:to|in|from|that|how|what|whether)$/.test(next)) return
  const isPassive = tokens[index + 1 + particle]?.lower === 'by' && PARTICIPLE.test(tokens[index]?.lower ?? '')
  if (isPassive && trigger.activeOnly === true) return
  const [left, right] =
    isPassive === (trigger.swap === true) ? [trigger.subject, trigger.object] : [trigger.object, trigger.subject]
  const reduced = isPassive && tokens[index - 1]?.lower === ',' ? index - 1 : index
  const objects = findObjectsAfter(sentence, index + 1 + particle + (isPassive ? 1 : 0), right)
  // the agent of a replacement is not the replacement
  if (!isPassive && trigger.predicate === 'replaced' && readReplacedWith(sentence, objects, relate)) return
  const subject = findSubjectBefore(sentence, reduced, left, isPassive && reduced === index)
  const subjects = subject?.phrases ?? findSharedSubjects(sentence, index)
  if (!isPassive && !isVerbOf(sentence, index, subjects, subject?.between ?? [])) return
  if (trigger.predicate === 'caused' && !isEffect(sentence, subjects, objects)) return
  const swap = isPassive !== (trigger.swap === true)
  forEachPair(subjects, objects, (a, b) => (swap ? relate(b, trigger.predicate, a) : relate(a, trigger.predicate, b)))
}

/** The subject of the second verb of `X founded Y and bought Z`. */
function findSharedSubjects({ tokens, earlier }: StatementSentence, verb: number): NounPhrase[] {
  if (tokens[verb - 1]?.lower !== 'and') return []
  const last = tokens[verb - 2]?.lower === ',' ? verb - 3 : verb - 2
  return earlier.filter(({ object }) => object.last === last).map(({ subject }) => subject)
}

/** Whether a word is the verb of its subject, not a noun or participle of the same form: `drug use disorders`. */
function isVerbOf(
  { tokens }: TokenizedSentence,
  verb: number,
  subjects: readonly NounPhrase[],
  between: readonly string[],
): boolean {
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
function isEffect(
  { tokens }: TokenizedSentence,
  subjects: readonly NounPhrase[],
  objects: readonly NounPhrase[],
): boolean {
  const after = tokens[(objects.at(-1)?.last ?? 0) + 1]?.lower ?? ''
  return !subjects.some(({ name }) => WAY.test(name)) && after !== 'to' && !/^\p{Ll}+ing$/u.test(after)
}

/** `They replaced X with Y`: Y replaced X. */
function readReplacedWith(sentence: TokenizedSentence, replaced: readonly NounPhrase[], relate: AddRelation): boolean {
  const last = replaced.at(-1)
  if (last === undefined || sentence.tokens[last.last + 1]?.lower !== 'with') return false
  forEachPair(replaced, findObjectsAfter(sentence, last.last + 2, 'any'), (replacedPhrase, replacement) =>
    relate(replacement, 'replaced', replacedPhrase),
  )
  return true
}

/** `X is located in Y`, `X, based in Y, …` */
function readState(sentence: TokenizedSentence, index: number, trigger: StateTrigger, relate: AddRelation): void {
  const { tokens } = sentence
  if (!splitWords(trigger.next).includes(tokens[index + 1]?.lower ?? '')) return
  const isReduced = tokens[index - 1]?.lower === ','
  const subject = findSubjectBefore(sentence, isReduced ? index - 1 : index, isReduced ? 'name' : trigger.subject)
  if (subject === undefined) return
  const objects = findObjectsAfter(sentence, index + 2, trigger.object)
  const swap = trigger.predicate === 'part_of'
  forEachPair(subject.phrases, objects, (a, b) =>
    swap ? relate(b, trigger.predicate, a) : relate(a, trigger.predicate, b),
  )
}

/** `X was born in Y`, `X was born on 3 May 1950 in Y` */
function readBirth(sentence: TokenizedSentence, index: number, relate: AddRelation): void {
  const { tokens } = sentence
  if (isNotAsserted(sentence, index)) return
  const isReduced = /^[,(]$/.test(tokens[index - 1]?.text ?? '')
  const subject = findSubjectBefore(sentence, isReduced ? index - 1 : index, 'name')
  for (let position = index + 1; subject !== undefined && position < index + 9; position++) {
    const word = tokens[position]?.lower ?? ''
    if (!/^(?:in|at|near)$/.test(word) || /^\d/.test(tokens[position + 1]?.text ?? '')) continue
    const [town] = findObjectsAfter(sentence, position + 1, 'name')
    if (town !== undefined && town.mention?.type !== 'date')
      for (const subjectPhrase of subject.phrases) relate(subjectPhrase, 'born_in', town)
    return
  }
}

/** `X costs two euros`, `the price of X is $5`, `X is priced at £3` */
function readCost(sentence: TokenizedSentence, index: number, relate: AddRelation): void {
  const { tokens } = sentence
  if (isNotAsserted(sentence, index)) return
  const { lower = '' } = tokens[index] ?? {}
  const next = tokens[index + 1]?.lower ?? ''
  if (/^(?:price|cost|fee|fare|charge)$/.test(lower) && /^(?:of|for)$/.test(next)) {
    const [thing] = findObjectsAfter(sentence, index + 2, 'any')
    if (thing === undefined || !BE.test(tokens[thing.last + 1]?.lower ?? '')) return
    const amount = findAmountAt(sentence, thing.last + 2)
    if (amount !== undefined) relate(thing, 'costs', amount)
    return
  }
  if (!/^(?:costs?|priced|sells|retails)$/.test(lower)) return
  const skip = /^(?:at|for|only|about|around|just)$/.test(next) ? 1 : 0
  const amount = findAmountAt(sentence, index + 1 + skip)
  const subject = amount === undefined ? undefined : findSubjectBefore(sentence, index, 'any')
  if (amount !== undefined) for (const subjectPhrase of subject?.phrases ?? []) relate(subjectPhrase, 'costs', amount)
}
