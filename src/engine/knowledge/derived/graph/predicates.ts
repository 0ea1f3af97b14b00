/** Meanings of a relation, from subject to object: `Y was bought by X` becomes X `acquired` Y. */
export const PREDICATES = [
  'acquired',
  'born_in',
  'caused',
  'cites',
  'contradicts',
  'costs',
  'created',
  'depends_on',
  'discovered',
  'founded',
  'leads',
  'located_in',
  'member_of',
  'owns',
  'part_of',
  'produces',
  'replaced',
  'uses',
  'works_for',
] as const
export type Predicate = (typeof PREDICATES)[number]

/** Whether an end must be a name, or may be any noun phrase. */
export type EndKind = 'name' | 'any'

interface TriggerEnds {
  predicate: Predicate
  /** the grammatical subject is the predicate's object */
  swap?: boolean
  subject: EndKind
  object: EndKind
}

/** `X acquired Y`; for participles also the passive, `Y was acquired by X`. */
export interface VerbTrigger extends TriggerEnds {
  kind: 'verb'
  /** forms of the verb, separated by spaces */
  words: string
  /** alternatives for the word that must follow, separated by spaces: `over` in `X took over Y` */
  next?: string
  /** the verb has no passive with `by` */
  activeOnly?: boolean
}

/** `X is located in Y`: a participle or adjective, for which the sentence names no actor. */
export interface StateTrigger extends TriggerEnds {
  kind: 'state'
  words: string
  next: string
}

/** `X is a founder of Y`, `X, the founder of Y`, `Y's founder X`. */
export interface RoleTrigger extends TriggerEnds {
  kind: 'role'
  words: string
  next: string
}

/** `X's acquisition of Y`, `the acquisition of Y by X`. */
export interface EventTrigger extends TriggerEnds {
  kind: 'event'
  words: string
  /** alternatives for the word before X, separated by spaces */
  by: string
}

export type RelationTrigger = VerbTrigger | StateTrigger | RoleTrigger | EventTrigger

const verb = (
  predicate: Predicate,
  words: string,
  [subject, object]: readonly [EndKind, EndKind],
  more: Partial<VerbTrigger> = {},
): VerbTrigger => ({ kind: 'verb', predicate, words, subject, object, ...more })
const state = (predicate: Predicate, words: string, next: string, [subject, object]: readonly [EndKind, EndKind]) =>
  ({ kind: 'state', predicate, words, next, subject, object }) as const
const role = (predicate: Predicate, words: string, next: string, [subject, object]: readonly [EndKind, EndKind]) =>
  ({ kind: 'role', predicate, words, next, subject, object }) as const
const event = (predicate: Predicate, words: string, by: string, [subject, object]: readonly [EndKind, EndKind]) =>
  ({ kind: 'event', predicate, words, by, subject, object }) as const

const NAME_NAME = ['name', 'name'] as const
const ANY_ANY = ['any', 'any'] as const
const NAME_ANY = ['name', 'any'] as const
const ANY_NAME = ['any', 'name'] as const

/** Words that state a relation. `relations.ts` finds `born_in` and `costs` by rules of their own. */
export const TRIGGERS: readonly RelationTrigger[] = [
  verb('acquired', 'acquire acquires acquired buys bought purchases purchased', NAME_NAME),
  verb('acquired', 'takes took taken', NAME_NAME, { next: 'over' }),
  event('acquired', 'acquisition takeover purchase buyout', 'by', NAME_NAME),
  verb('founded', 'founded co-founded cofounded', NAME_NAME),
  verb('founded', 'establish establishes established', NAME_NAME),
  verb('founded', 'sets set', NAME_NAME, { next: 'up' }),
  event('founded', 'founding foundation establishment', 'by', NAME_NAME),
  role('founded', 'founder co-founder cofounder founders co-founders', 'of', NAME_NAME),
  verb('leads', 'leads led heads headed chairs chaired directed', NAME_ANY),
  verb('leads', 'runs', NAME_NAME),
  role(
    'leads',
    `ceo cto cfo president director chairman chairwoman chairperson chair head leader captain mayor governor minister
     chancellor king queen emperor executive officer principal dean commander manager rector`,
    'of at for',
    NAME_ANY,
  ),
  verb('works_for', 'works worked', NAME_NAME, { next: 'for at', activeOnly: true }),
  verb('works_for', 'employs employed hires hired', NAME_NAME, { swap: true }),
  role(
    'works_for',
    `employee engineer scientist researcher professor developer analyst accountant designer teacher lawyer consultant
     lecturer physicist chemist economist nurse curator librarian`,
    'at of for with',
    NAME_NAME,
  ),
  verb('member_of', 'joins joined', NAME_NAME, { activeOnly: true }),
  role('member_of', 'member members signatory', 'of', NAME_NAME),
  verb('part_of', 'belong belongs belonged', ANY_ANY, { next: 'to', activeOnly: true }),
  verb('part_of', 'consist consists consisted', ANY_ANY, { next: 'of', activeOnly: true, swap: true }),
  verb('part_of', 'comprises comprised', ANY_ANY, { swap: true, activeOnly: true }),
  state('part_of', 'composed', 'of', ANY_ANY),
  role(
    'part_of',
    'part subsidiary division unit branch arm component subset suburb district province county borough department module',
    'of',
    ANY_ANY,
  ),
  state('located_in', 'located situated', 'in at on near', ANY_NAME),
  state('located_in', 'headquartered based', 'in at near', ANY_NAME),
  verb('located_in', 'lies lie', NAME_NAME, { next: 'in on', activeOnly: true }),
  role('located_in', 'capital', 'of', NAME_NAME),
  role(
    'located_in',
    'city town village river mountain lake island port museum university municipality',
    'in',
    NAME_NAME,
  ),
  verb('depends_on', 'depend depends depended relies rely relied', ANY_ANY, { next: 'on upon', activeOnly: true }),
  verb('depends_on', 'requires required', ANY_ANY, { activeOnly: true }),
  verb('depends_on', 'needs needed', ANY_ANY, { activeOnly: true }),
  verb('depends_on', 'runs run ran builds built', NAME_NAME, { next: 'on upon', activeOnly: true }),
  state('depends_on', 'dependent', 'on upon', ANY_ANY),
  state('depends_on', 'built', 'on upon', ANY_ANY),
  state('depends_on', 'powered', 'by', ANY_ANY),
  verb('uses', 'use uses used utilizes utilises utilized employs', ANY_ANY),
  state('uses', 'written implemented', 'in', ANY_NAME),
  verb('replaced', 'replace replaces replaced supersede supersedes superseded obsoletes obsoleted', ANY_ANY),
  verb('replaced', 'succeeds succeeded', NAME_NAME),
  event('replaced', 'replacement', 'by with', ANY_ANY),
  role('replaced', 'successor', 'to of', NAME_NAME),
  role('replaced', 'replacement', 'for of', ANY_ANY),
  { ...role('replaced', 'predecessor', 'of to', NAME_NAME), swap: true },
  verb('produces', 'produces produced manufactures manufactured', ANY_ANY),
  verb('produces', 'makes builds built', NAME_ANY),
  role('produces', 'manufacturer producer maker', 'of', NAME_ANY),
  verb('owns', 'own owns owned', NAME_ANY),
  role('owns', 'owner owners', 'of', NAME_ANY),
  verb('created', 'wrote written invented developed designed composed painted authored', NAME_ANY),
  verb('discovered', 'discovered', NAME_ANY),
  event('discovered', 'discovery', 'by', NAME_ANY),
  event('created', 'invention', 'by', NAME_ANY),
  role('created', 'author inventor creator architect composer designer', 'of', NAME_ANY),
  verb('caused', 'cause causes caused triggers triggered induces induced', ANY_ANY),
  verb('caused', 'leads led results resulted', ANY_ANY, { next: 'to in', activeOnly: true }),
  verb('caused', 'gives gave', ANY_ANY, { next: 'rise', activeOnly: true }),
  role('caused', 'cause causes', 'of', ANY_ANY),
  verb('cites', 'cites cited amends amended references', NAME_NAME),
  verb('contradicts', 'contradict contradicts contradicted', ANY_ANY),
  verb('contradicts', 'conflicts conflict', ANY_ANY, { next: 'with', activeOnly: true }),
]

/** The closest type in the contract's closed list. */
export const RELATION_TYPE_BY_PREDICATE = {
  acquired: 'mentions',
  born_in: 'mentions',
  caused: 'mentions',
  cites: 'references',
  contradicts: 'contradicts',
  costs: 'mentions',
  created: 'mentions',
  depends_on: 'depends_on',
  discovered: 'mentions',
  founded: 'mentions',
  leads: 'mentions',
  located_in: 'mentions',
  member_of: 'mentions',
  owns: 'mentions',
  part_of: 'mentions',
  produces: 'mentions',
  replaced: 'supersedes',
  uses: 'depends_on',
  works_for: 'mentions',
} as const satisfies Record<Predicate, string>
