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

interface Ends {
  predicate: Predicate
  /** the grammatical subject is the predicate's object */
  swap?: boolean
  subject: EndKind
  object: EndKind
}

/** `X words next Y`, and `Y was words next by X` for participles. */
export interface VerbTrigger extends Ends {
  kind: 'verb'
  words: string
  next?: string
  /** has no passive with `by` */
  active?: boolean
}

/** `X is words next Y`, without an agent. */
export interface StateTrigger extends Ends {
  kind: 'state'
  words: string
  next: string
}

/** `X is a word of Y`, `X, the word of Y`, `Y's word X`. */
export interface RoleTrigger extends Ends {
  kind: 'role'
  words: string
  next: string
}

/** `Y's word of X`, `the word of X by Y`. */
export interface EventTrigger extends Ends {
  kind: 'event'
  words: string
  by: string
}

export type Trigger = VerbTrigger | StateTrigger | RoleTrigger | EventTrigger

const verb = (
  predicate: Predicate,
  words: string,
  [subject, object]: readonly [EndKind, EndKind],
  more: Partial<VerbTrigger> = {},
): VerbTrigger => ({ kind: 'verb', predicate, words, subject, object, ...more })
const state = (predicate: Predicate, words: string, next: string, [subject, object]: readonly [EndKind, EndKind]) =>
  ({ kind: 'state', predicate, words, next, subject, object }) as const
const role = (
  predicate: Predicate,
  words: string,
  next: string,
  [subject, object]: readonly [EndKind, EndKind],
  swap = false,
): RoleTrigger => ({ kind: 'role', predicate, words, next, subject, object, swap })
const event = (predicate: Predicate, words: string, by: string, [subject, object]: readonly [EndKind, EndKind]) =>
  ({ kind: 'event', predicate, words, by, subject, object }) as const

const NAMES = ['name', 'name'] as const
const ANY = ['any', 'any'] as const
const OF_NAME = ['name', 'any'] as const
const TO_NAME = ['any', 'name'] as const

export const TRIGGERS: readonly Trigger[] = [
  verb('acquired', 'acquire acquires acquired buys bought purchases purchased', NAMES),
  verb('acquired', 'takes took taken', NAMES, { next: 'over' }),
  event('acquired', 'acquisition takeover purchase buyout', 'by', NAMES),
  verb('founded', 'founded co-founded cofounded', NAMES),
  verb('founded', 'establish establishes established', NAMES),
  verb('founded', 'sets set', NAMES, { next: 'up' }),
  event('founded', 'founding foundation establishment', 'by', NAMES),
  role('founded', 'founder co-founder cofounder founders co-founders', 'of', NAMES),
  verb('leads', 'leads led heads headed chairs chaired directed', OF_NAME),
  verb('leads', 'runs', NAMES),
  role(
    'leads',
    `ceo cto cfo president director chairman chairwoman chairperson chair head leader captain mayor governor minister
     chancellor king queen emperor executive officer principal dean commander manager rector`,
    'of at for',
    OF_NAME,
  ),
  verb('works_for', 'works worked', NAMES, { next: 'for at', active: true }),
  verb('works_for', 'employs employed hires hired', NAMES, { swap: true }),
  role(
    'works_for',
    `employee engineer scientist researcher professor developer analyst accountant designer teacher lawyer consultant
     lecturer physicist chemist economist nurse curator librarian`,
    'at of for with',
    NAMES,
  ),
  verb('member_of', 'joins joined', NAMES, { active: true }),
  role('member_of', 'member members signatory', 'of', NAMES),
  verb('part_of', 'belong belongs belonged', ANY, { next: 'to', active: true }),
  verb('part_of', 'consist consists consisted', ANY, { next: 'of', active: true, swap: true }),
  verb('part_of', 'comprises comprised', ANY, { swap: true, active: true }),
  state('part_of', 'composed', 'of', ANY),
  role(
    'part_of',
    'part subsidiary division unit branch arm component subset suburb district province county borough department module',
    'of',
    ANY,
  ),
  state('located_in', 'located situated', 'in at on near', TO_NAME),
  state('located_in', 'headquartered based', 'in at near', TO_NAME),
  verb('located_in', 'lies lie', NAMES, { next: 'in on', active: true }),
  role('located_in', 'capital', 'of', NAMES),
  role('located_in', 'city town village river mountain lake island port museum university municipality', 'in', NAMES),
  verb('depends_on', 'depend depends depended relies rely relied', ANY, { next: 'on upon', active: true }),
  verb('depends_on', 'requires required', ANY, { active: true }),
  verb('depends_on', 'needs needed', ANY, { active: true }),
  verb('depends_on', 'runs run ran builds built', NAMES, { next: 'on upon', active: true }),
  state('depends_on', 'dependent', 'on upon', ANY),
  state('depends_on', 'built', 'on upon', ANY),
  state('depends_on', 'powered', 'by', ANY),
  verb('uses', 'use uses used utilizes utilises utilized employs', ANY),
  state('uses', 'written implemented', 'in', TO_NAME),
  verb('replaced', 'replace replaces replaced supersede supersedes superseded obsoletes obsoleted', ANY),
  verb('replaced', 'succeeds succeeded', NAMES),
  event('replaced', 'replacement', 'by with', ANY),
  role('replaced', 'successor', 'to of', NAMES),
  role('replaced', 'replacement', 'for of', ANY),
  role('replaced', 'predecessor', 'of to', NAMES, true),
  verb('produces', 'produces produced manufactures manufactured', ANY),
  verb('produces', 'makes builds built', OF_NAME),
  role('produces', 'manufacturer producer maker', 'of', OF_NAME),
  verb('owns', 'own owns owned', OF_NAME),
  role('owns', 'owner owners', 'of', OF_NAME),
  verb('created', 'wrote written invented developed designed composed painted authored', OF_NAME),
  verb('discovered', 'discovered', OF_NAME),
  event('discovered', 'discovery', 'by', OF_NAME),
  event('created', 'invention', 'by', OF_NAME),
  role('created', 'author inventor creator architect composer designer', 'of', OF_NAME),
  verb('caused', 'cause causes caused triggers triggered induces induced', ANY),
  verb('caused', 'leads led results resulted', ANY, { next: 'to in', active: true }),
  verb('caused', 'gives gave', ANY, { next: 'rise', active: true }),
  role('caused', 'cause causes', 'of', ANY),
  verb('cites', 'cites cited amends amended references', NAMES),
  verb('contradicts', 'contradict contradicts contradicted', ANY),
  verb('contradicts', 'conflicts conflict', ANY, { next: 'with', active: true }),
]

/** The closest type in the contract's closed list. */
export const TYPE_OF = {
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
