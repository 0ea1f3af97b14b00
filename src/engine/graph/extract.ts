import { splitSentences } from '../../lib/text/sentences.js'
import { canonicalKey, type FoundEntity, findEntities } from './entities.js'

export type RelationType = 'contradicts' | 'defines' | 'depends_on' | 'mentions' | 'references' | 'supersedes'

export interface ExtractedEntity {
  found: FoundEntity
  /** spellings, in the order in which they were found */
  names: Set<string>
  nodes: Set<number>
}

/** Its ends are named by canonical key. */
export interface ExtractedRelation {
  subject: string
  object: string
  type: RelationType
  confidence: number
  nodes: Set<number>
}

/** What a document says, entities by canonical key. */
export interface Extraction {
  entities: Map<string, ExtractedEntity>
  relations: Map<string, ExtractedRelation>
}

/** A text names more than it is about: the rest of a node's names is left out. */
const NODE_ENTITIES = 24
const DOCUMENT_ENTITIES = 2000
/** Spellings kept of one entity in one document. */
const NAMES = 4
/** Longer headings are sentences. */
const HEADING_CHARACTERS = 80

/** `X verb Y` between two neighbouring entities of a sentence. */
const BETWEEN: readonly (readonly [RelationType, RegExp])[] = [
  ['depends_on', /\b(?:depends? (?:up)?on|dependent (?:up)?on|requires?|relies on|needs|is based on|runs on)\b/iu],
  ['supersedes', /\b(?:supersedes?|replaces?|replaced|succeeds|obsoletes)\b/iu],
  ['contradicts', /\b(?:contradicts?|contrary to|conflicts? with|is inconsistent with)\b/iu],
  ['references', /\b(?:refers? to|cites?|see|according to|as described in|pursuant to)\b/iu],
  ['defines', /\b(?:defines?|means|is defined as|stands for|is called)\b/iu],
]
const BETWEEN_CHARACTERS = 60
const DEFINED =
  /(?:^|[.\n] *)(?:(?:an?|the) )?[“"*_]{0,3}([\p{L}][\p{L}\p{N} -]{2,40}?)[”"*_]{0,3} (?:means|is defined as|refers to|is the term for)\b/giu
const SEE =
  /\b(?:see|refer to|described in|according to) (?:also )?(?:the )?(?:section|chapter|appendix|part)s? ?[“"]?([\p{L}\p{N}][\p{L}\p{N} .-]{0,40})/giu
const LINK = /\[([^\]\n]{2,80})\]\([^)\s]+\)/gu

interface ReadableNode {
  key: number
  text: string
  section: string[]
}

/** Reads a document's nodes, in order, into entities and relations. The same document always gives the same ones. */
export class GraphReader {
  readonly #title: string
  readonly #graph: Extraction = { entities: new Map(), relations: new Map() }

  constructor(documentTitle: string) {
    this.#title = documentTitle
  }

  add(node: ReadableNode): void {
    const heading = this.#heading(node)
    const known = ofFirstNames(findEntities(node.text)).filter((found) => this.#see(found, node.key))
    this.#stated(node, heading)
    if (heading !== undefined)
      for (const { canonicalKey: key } of known) this.#relate(heading, key, 'mentions', 0.5, node.key)
    const sentences = splitSentences(node.text)
    for (const { start, end } of sentences) {
      const within = known.filter(({ at }) => at >= start && at < end)
      for (const [index, right] of within.entries()) {
        const left = within[index - 1]
        if (left !== undefined) this.#neighbours(node, left, right)
      }
    }
  }

  finish(): Extraction {
    return this.#graph
  }

  /** The section that a node stands in, or its document, as a term. */
  #heading(node: ReadableNode): string | undefined {
    const name = (node.section.at(-1) ?? this.#title).slice(0, HEADING_CHARACTERS).trim()
    return this.#term(name, node.key, 0.7)
  }

  #term(name: string, node: number, confidence: number): string | undefined {
    const key = canonicalKey(name)
    const found: FoundEntity = { name, type: 'term', canonicalKey: key, confidence, at: 0 }
    return key.length > 1 && this.#see(found, node) ? key : undefined
  }

  #see(found: FoundEntity, node: number): boolean {
    const { entities } = this.#graph
    const known = entities.get(found.canonicalKey)
    if (known === undefined && entities.size >= DOCUMENT_ENTITIES) return false
    const entry = known ?? { found, names: new Set<string>(), nodes: new Set<number>() }
    if (entry.names.size < NAMES) entry.names.add(found.name)
    if (entry.found.type === 'term' && found.type !== 'term') entry.found = found
    entry.nodes.add(node)
    entities.set(found.canonicalKey, entry)
    return true
  }

  /** What a text says of other parts and of words: definitions, references, links. */
  #stated(node: ReadableNode, heading: string | undefined): void {
    if (heading === undefined) return
    for (const [pattern, type] of [
      [DEFINED, 'defines'],
      [SEE, 'references'],
      [LINK, 'references'],
    ] as const)
      for (const match of node.text.matchAll(pattern)) {
        const object = this.#term((match[1] ?? '').trim(), node.key, 0.75)
        if (object !== undefined) this.#relate(heading, object, type, 0.75, node.key)
      }
  }

  #neighbours(node: ReadableNode, left: FoundEntity, right: FoundEntity): void {
    const between = node.text.slice(left.at + left.name.length, right.at)
    const said =
      between.length <= BETWEEN_CHARACTERS ? BETWEEN.find(([, pattern]) => pattern.test(between))?.[0] : undefined
    this.#relate(left.canonicalKey, right.canonicalKey, said ?? 'mentions', said === undefined ? 0.5 : 0.7, node.key)
  }

  #relate(subject: string, object: string, type: RelationType, confidence: number, node: number): void {
    if (subject === object) return
    const id = `${type}\n${subject}\n${object}`
    const known = this.#graph.relations.get(id) ?? { subject, object, type, confidence, nodes: new Set<number>() }
    known.nodes.add(node)
    this.#graph.relations.set(id, known)
  }
}

/** Mentions of the first few names of a text. */
function ofFirstNames(mentions: readonly FoundEntity[]): FoundEntity[] {
  const names = new Set([...new Set(mentions.map(({ canonicalKey: key }) => key))].slice(0, NODE_ENTITIES))
  return mentions.filter(({ canonicalKey: key }) => names.has(key))
}
