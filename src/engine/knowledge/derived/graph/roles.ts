import type { MoneyAmount } from './amounts.js'
import { findObjectsAfter, findSubjectBefore } from './clauses.js'
import { DETERMINERS, isFunctionWord, VERBS } from './function-words.js'
import {
  findPhraseAfter,
  findPhraseBefore,
  findWordBefore,
  isPreposition,
  type NounPhrase,
  type TokenizedSentence,
} from './phrases.js'
import type { EventTrigger, Predicate, RoleTrigger } from './predicates.js'

const BE = /^(?:is|are|was|were|became|becomes|remains|remained|been)$/
/** Words before a role that change or negate it. */
const ROLE_NEGATIONS =
  /^(?:vice|deputy|assistant|acting|former|ex|proposed|planned|possible|potential|failed|attempted|honorary|would-be|likely|intended|pending)$/
/** A minister or an officer leads only a part; with these words before it, the role leads all of it. */
const REQUIRED_MODIFIERS: Readonly<Record<string, RegExp>> = {
  minister: /^(?:prime|first)$/,
  executive: /^chief$/,
  officer: /^(?:executive|operating|commanding)$/,
}
const MAX_MODIFIERS = 4

/** Start of a role's words, and what precedes them. */
interface RoleStart {
  /** index of the token before the role's words and its article */
  before: number
  isNegated: boolean
  /** index of the last token of what the role belongs to, where that comes first: `Acme's founder` */
  possessor: number | undefined
}

/** `X is the founder of Y`, `X, founder of Y, …`, `the founder of Y is X`, `Y's founder X` */
export function relateRole(
  sentence: TokenizedSentence,
  index: number,
  trigger: RoleTrigger,
  addRelation: AddRelation,
): void {
  const { tokens } = sentence
  const start = findRoleStart(sentence, index)
  const requiredModifier = REQUIRED_MODIFIERS[tokens[index]?.lower ?? '']
  if (start.isNegated || (requiredModifier !== undefined && !requiredModifier.test(tokens[index - 1]?.lower ?? '')))
    return
  const add = (holder: NounPhrase, object: NounPhrase): void =>
    trigger.swap === true
      ? addRelation(object, trigger.predicate, holder)
      : addRelation(holder, trigger.predicate, object)
  if (start.possessor !== undefined) {
    const possessor = findPhraseBefore(sentence, start.possessor)
    if (possessor === undefined || isPreposition(findWordBefore(sentence, possessor))) return
    if (trigger.object === 'name' && !possessor.isName) return
    for (const holder of findHolders(sentence, possessor.first - 1, index, trigger)) add(holder, possessor)
    return
  }
  if (!trigger.next.split(' ').includes(tokens[index + 1]?.lower ?? '')) return
  const objects = findObjectsAfter(sentence, index + 2, trigger.object)
  const last = objects.at(-1)
  if (last === undefined) return
  for (const holder of findHolders(sentence, start.before, last.last, trigger))
    for (const object of objects) add(holder, object)
}

function findRoleStart({ tokens }: TokenizedSentence, index: number): RoleStart {
  let before = index - 1
  let isNegated = false
  for (let count = 0; count < MAX_MODIFIERS; count++, before--) {
    const token = tokens[before]
    if (token === undefined || !token.isWord) break
    if (ROLE_NEGATIONS.test(token.lower)) isNegated = true
    if (token.possessive) return { before, isNegated, possessor: before }
    if (token.lower === 'and' && tokens[before - 1]?.isWord) continue
    if (isFunctionWord(token.lower) || VERBS.has(token.lower)) break
  }
  while (
    DETERMINERS.has(tokens[before]?.lower ?? '') ||
    /^(?:of|as|currently|now|also|still)$/.test(tokens[before]?.lower ?? '')
  )
    before--
  return { before, isNegated, possessor: undefined }
}

/** The holders of a role: named before its words (`X is …`, `X, …`), or after them (`… is X`, `…, X,`, `… X`). */
function findHolders(sentence: TokenizedSentence, before: number, after: number, trigger: RoleTrigger): NounPhrase[] {
  const { tokens } = sentence
  const word = tokens[before]?.lower ?? ''
  if (BE.test(word)) return findSubjectBefore(sentence, before + 1, trigger.subject)?.phrases ?? []
  if (word === ',' || word === '(') {
    const holder = findPhraseBefore(sentence, before - 1)
    if (holder?.isName === true && !isPreposition(findWordBefore(sentence, holder))) return [holder]
  }
  if (before >= 0 && !/^[,;:—–-]$|^(?:and|but|that)$/.test(word) && !isPreposition(word)) return []
  return findHoldersAfter(sentence, after, trigger)
}

function findHoldersAfter(sentence: TokenizedSentence, after: number, trigger: RoleTrigger): NounPhrase[] {
  const { tokens } = sentence
  const next = tokens[after + 1]
  if (next === undefined) return []
  if (BE.test(next.lower)) return findObjectsAfter(sentence, after + 2, 'name').slice(0, 1)
  if (next.text === ',') {
    const holder = findPhraseAfter(sentence, after + 2, 'name')
    const close = tokens[(holder?.last ?? after) + 1]
    return holder?.isName === true && (close === undefined || close.text === ',' || close.text === '.') ? [holder] : []
  }
  // `Acme's founder Ada Park`
  const holder =
    trigger.subject === 'name' && next.mention !== undefined ? findPhraseAfter(sentence, after + 1, 'name') : undefined
  return holder?.isName === true ? [holder] : []
}

/** `X's acquisition of Y`, `the acquisition of Y by X` */
export function relateEvent(
  sentence: TokenizedSentence,
  index: number,
  trigger: EventTrigger,
  addRelation: AddRelation,
): void {
  const { tokens } = sentence
  if (tokens[index + 1]?.lower !== 'of') return
  const start = findRoleStart(sentence, index)
  if (start.isNegated) return
  const objects = findObjectsAfter(sentence, index + 2, trigger.object)
  const last = objects.at(-1)
  if (last === undefined) return
  const agents =
    start.possessor !== undefined
      ? [findPhraseBefore(sentence, start.possessor)]
      : trigger.by.split(' ').includes(tokens[last.last + 1]?.lower ?? '')
        ? findObjectsAfter(sentence, last.last + 2, trigger.subject)
        : []
  for (const agent of agents)
    if (agent !== undefined && (agent.isName || trigger.subject === 'any'))
      for (const object of objects) addRelation(agent, trigger.predicate, object)
}

export type AddRelation = (subject: NounPhrase, predicate: Predicate, object: NounPhrase | MoneyAmount) => void
