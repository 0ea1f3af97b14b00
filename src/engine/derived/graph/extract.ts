import { type Span, splitSentences } from '../../../lib/text/sentences.js'
import { aliasesIn } from './aliases.js'
import { canonicalKey, type FoundEntity, findEntities } from './entities.js'
import { type Extraction, type RelationType, relationId } from './extraction.js'
import { mergeNames } from './merge.js'
import { type Predicate, TYPE_OF } from './predicates.js'
import { type End, findStatements } from './relations.js'

/** A text mentions more names than it is about: further names of a node are ignored. */
const NODE_ENTITIES = 24
const DOCUMENT_ENTITIES = 2000
/** Spellings stored per entity and document. */
const NAMES = 4
/** Longer headings are sentences. */
const HEADING_CHARACTERS = 80

/** Confidence of a stated relation by its ends: two names, or at least one noun phrase, which any rule accepts. */
const STATED = { names: 0.8, phrases: 0.7 }
const CO_OCCURRENCE = 0.5
const DEFINED =
  /(?:^|[.\n] *)(?:(?:an?|the) )?(?!(?:this|that|these|it|which|what|he|she|they|we|there|as|in|and|but|so|who|by)\b)[“"*_]{0,3}([\p{L}][\p{L}\p{N}-]*(?: [\p{L}\p{N}-]+){0,3}?)[”"*_]{0,3} (?:means(?! (?:of|that|to|for|by)\b)|is defined as|refers to|is the term for)\b/giu
const SEE =
  /\b(?:see|refer to|described in|according to) (?:also )?(?:the )?(?:section|chapter|appendix|part)s? ?[“"]?((?!(?:of|in|on|and|the|for|above|below|to|with|a|an)\b)\p{L}[\p{L}\p{N} -]{2,40})/giu
const LINK = /\[([^\]\n]{2,80})\]\([^)\s]+\)/gu

interface ReadableNode {
  key: number
  text: string
  section: string[]
}

/**
 * Extracts entities and relations from a document's nodes, in order. The same document always gives the same result.
 */
export class GraphReader {
  readonly #title: string
  readonly #graph: Extraction = { entities: new Map(), relations: new Map() }
  /** short and other forms by key, with the key of the full name */
  readonly #aliases = new Map<string, string>()

  constructor(documentTitle: string) {
    this.#title = documentTitle
  }

  add(node: ReadableNode): void {
    const heading = this.#heading(node)
    const mentions = findEntities(node.text)
    const known = ofFirstNames(mentions).filter((found) => this.#see(found, node.key))
    this.#nameAliases(node, mentions)
    this.#stated(node, heading)
    if (heading !== undefined)
      for (const { canonicalKey: key } of known) this.#relate(heading, key, 'mentions', CO_OCCURRENCE, node.key)
    const sentences = splitSentences(node.text)
    const joined = this.#statements(node, sentences, mentions)
    for (const { start, end } of sentences) {
      const within = known.filter(({ at }) => at >= start && at < end)
      for (const [index, right] of within.entries()) {
        const left = within[index - 1]
        if (left === undefined) continue
        if (joined.size > 0 && joined.has(pairOf(left.canonicalKey, right.canonicalKey))) continue
        this.#relate(left.canonicalKey, right.canonicalKey, 'mentions', CO_OCCURRENCE, node.key)
      }
    }
  }

  /** The graph with spellings of one name merged. */
  finish(): Extraction {
    return mergeNames(this.#graph, this.#aliases)
  }

  /** Adds relations that sentences state. @returns the pairs of their ends */
  #statements(node: ReadableNode, sentences: readonly Span[], mentions: readonly FoundEntity[]): Set<string> {
    const joined = new Set<string>()
    for (const { subject, predicate, object } of findStatements(node.text, sentences, mentions)) {
      const ends = [this.#end(subject, node.key), this.#end(object, node.key)]
      if (ends[0] === undefined || ends[1] === undefined) continue
      joined.add(pairOf(ends[0], ends[1]))
      const type = TYPE_OF[predicate]
      const named = subject.mention !== undefined && object.mention !== undefined
      this.#relate(ends[0], ends[1], type, named ? STATED.names : STATED.phrases, node.key, predicate)
    }
    return joined
  }

  /** Key of the entity at an end of a relation. */
  #end({ name, at, mention, key }: End, node: number): string | undefined {
    if (key !== undefined) {
      const amount: FoundEntity = { name, type: 'metric', canonicalKey: key, confidence: 0.7, at }
      return this.#see(amount, node) ? key : undefined
    }
    if (mention === undefined) return this.#term(name, node, 0.55)
    return this.#see(mention, node) ? mention.canonicalKey : undefined
  }

  #nameAliases({ key: node, text }: ReadableNode, mentions: readonly FoundEntity[]): void {
    for (const { alias, of } of aliasesIn(text, mentions)) {
      const key = alias.canonicalKey === '' ? this.#term(alias.name, node, 0.6) : alias.canonicalKey
      if (key !== undefined && key !== of.canonicalKey) this.#aliases.set(key, of.canonicalKey)
    }
  }

  /** Key of a node's section, or its document, as a term. */
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

  /** Adds definitions, references and links of a text. */
  #stated(node: ReadableNode, heading: string | undefined): void {
    if (heading === undefined) return
    for (const [holds, pattern, type] of [
      [/means|is defined as|refers to|is the term/, DEFINED, 'defines'],
      [/section|chapter|appendix|part/i, SEE, 'references'],
      [/\]\(/, LINK, 'references'],
    ] as const)
      for (const match of holds.test(node.text) ? node.text.matchAll(pattern) : []) {
        const object = this.#term((match[1] ?? '').trim(), node.key, 0.75)
        if (object !== undefined) this.#relate(heading, object, type, 0.75, node.key)
      }
  }

  #relate(
    subject: string,
    object: string,
    type: RelationType,
    confidence: number,
    node: number,
    predicate: Predicate | '' = '',
  ): void {
    if (subject === object) return
    const id = relationId({ subject, object, type, predicate })
    const known = this.#graph.relations.get(id) ?? {
      subject,
      object,
      type,
      predicate,
      confidence,
      nodes: new Set<number>(),
    }
    known.nodes.add(node)
    this.#graph.relations.set(id, known)
  }
}

function pairOf(one: string, other: string): string {
  return one < other ? `${one}\n${other}` : `${other}\n${one}`
}

/** Mentions of the first few names of a text. */
function ofFirstNames(mentions: readonly FoundEntity[]): FoundEntity[] {
  const names = new Set([...new Set(mentions.map(({ canonicalKey: key }) => key))].slice(0, NODE_ENTITIES))
  return mentions.filter(({ canonicalKey: key }) => names.has(key))
}
