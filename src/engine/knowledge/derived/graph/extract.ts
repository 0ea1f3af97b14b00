import { type SentenceSpan, splitSentences } from '../../../../lib/text/sentences.js'
import { findAliases } from './aliases.js'
import { canonicalKey, type EntityMention, findEntities } from './entities.js'
import { type ExtractedRelation, type GraphExtraction, toRelationId } from './extraction.js'
import { mergeNames } from './merge.js'
import { RELATION_TYPE_BY_PREDICATE } from './predicates.js'
import { findStatements, type RelationEnd } from './relations.js'

/** A text mentions more names than it is about: further names of a node are ignored. */
const MAX_NODE_ENTITIES = 24
const MAX_DOCUMENT_ENTITIES = 2000
/** Spellings stored per entity and document. */
const MAX_SPELLINGS = 4
/** Longer headings are sentences. */
const MAX_HEADING_CHARACTERS = 80

/** Confidence of a stated relation by its ends: two names, or at least one noun phrase, which any rule accepts. */
const STATED_CONFIDENCE = { names: 0.8, phrases: 0.7 }
const CO_OCCURRENCE_CONFIDENCE = 0.5
const DEFINITION =
  /(?:^|[.\n] *)(?:(?:an?|the) )?(?!(?:this|that|these|it|which|what|he|she|they|we|there|as|in|and|but|so|who|by)\b)[“"*_]{0,3}([\p{L}][\p{L}\p{N}-]*(?: [\p{L}\p{N}-]+){0,3}?)[”"*_]{0,3} (?:means(?! (?:of|that|to|for|by)\b)|is defined as|refers to|is the term for)\b/giu
const SECTION_REFERENCE =
  /\b(?:see|refer to|described in|according to) (?:also )?(?:the )?(?:section|chapter|appendix|part)s? ?[“"]?((?!(?:of|in|on|and|the|for|above|below|to|with|a|an)\b)\p{L}[\p{L}\p{N} -]{2,40})/giu
const LINK = /\[([^\]\n]{2,80})\]\([^)\s]+\)/gu

interface GraphSourceNode {
  key: number
  text: string
  section: string[]
}

/**
 * Extracts entities and relations from a document's nodes, in order. The same document always gives the same result.
 */
export class GraphExtractor {
  readonly #title: string
  readonly #graph: GraphExtraction = { entities: new Map(), relations: new Map() }
  /** short and other forms by key, with the key of the full name */
  readonly #aliases = new Map<string, string>()

  constructor(documentTitle: string) {
    this.#title = documentTitle
  }

  add(node: GraphSourceNode): void {
    const heading = this.#addHeading(node)
    const mentions = findEntities(node.text)
    const known = mentionsOfFirstNames(mentions).filter((found) => this.#addMention(found, node.key))
    this.#addAliases(node, mentions)
    this.#addDefinitions(node, heading)
    if (heading !== undefined) for (const { canonicalKey: key } of known) this.#addMentions(heading, key, node.key)
    const sentences = splitSentences(node.text)
    const joined = this.#addStatements(node, sentences, mentions)
    for (const { start, end } of sentences) {
      const within = known.filter(({ offset }) => offset >= start && offset < end)
      for (const [index, right] of within.entries()) {
        const left = within[index - 1]
        if (left === undefined) continue
        if (joined.size > 0 && joined.has(toPairKey(left.canonicalKey, right.canonicalKey))) continue
        this.#addMentions(left.canonicalKey, right.canonicalKey, node.key)
      }
    }
  }

  /** The graph with spellings of one name merged. */
  finish(): GraphExtraction {
    return mergeNames(this.#graph, this.#aliases)
  }

  /** Adds relations that sentences state. @returns the pairs of their ends */
  #addStatements(
    node: GraphSourceNode,
    sentences: readonly SentenceSpan[],
    mentions: readonly EntityMention[],
  ): Set<string> {
    const joined = new Set<string>()
    for (const { subject, predicate, object } of findStatements(node.text, sentences, mentions)) {
      const subjectKey = this.#addEnd(subject, node.key)
      const objectKey = this.#addEnd(object, node.key)
      if (subjectKey === undefined || objectKey === undefined) continue
      joined.add(toPairKey(subjectKey, objectKey))
      const type = RELATION_TYPE_BY_PREDICATE[predicate]
      const named = subject.mention !== undefined && object.mention !== undefined
      const confidence = named ? STATED_CONFIDENCE.names : STATED_CONFIDENCE.phrases
      this.#addRelation({ subject: subjectKey, object: objectKey, type, predicate, confidence }, node.key)
    }
    return joined
  }

  /** Key of the entity at an end of a relation. */
  #addEnd({ name, offset, mention, key }: RelationEnd, node: number): string | undefined {
    if (key !== undefined) {
      const amount: EntityMention = { name, type: 'metric', canonicalKey: key, confidence: 0.7, offset }
      return this.#addMention(amount, node) ? key : undefined
    }
    if (mention === undefined) return this.#addTerm(name, node, 0.55)
    return this.#addMention(mention, node) ? mention.canonicalKey : undefined
  }

  #addAliases({ key: node, text }: GraphSourceNode, mentions: readonly EntityMention[]): void {
    for (const { alias, entity } of findAliases(text, mentions)) {
      const key = alias.canonicalKey === '' ? this.#addTerm(alias.name, node, 0.6) : alias.canonicalKey
      if (key !== undefined && key !== entity.canonicalKey) this.#aliases.set(key, entity.canonicalKey)
    }
  }

  /** Key of a node's section, or its document, as a term. */
  #addHeading(node: GraphSourceNode): string | undefined {
    const name = (node.section.at(-1) ?? this.#title).slice(0, MAX_HEADING_CHARACTERS).trim()
    return this.#addTerm(name, node.key, 0.7)
  }

  #addTerm(name: string, node: number, confidence: number): string | undefined {
    const key = canonicalKey(name)
    const found: EntityMention = { name, type: 'term', canonicalKey: key, confidence, offset: 0 }
    return key.length > 1 && this.#addMention(found, node) ? key : undefined
  }

  #addMention(found: EntityMention, node: number): boolean {
    const { entities } = this.#graph
    const known = entities.get(found.canonicalKey)
    if (known === undefined && entities.size >= MAX_DOCUMENT_ENTITIES) return false
    const entry = known ?? { found, names: new Set<string>(), nodes: new Set<number>() }
    if (entry.names.size < MAX_SPELLINGS) entry.names.add(found.name)
    if (entry.found.type === 'term' && found.type !== 'term') entry.found = found
    entry.nodes.add(node)
    entities.set(found.canonicalKey, entry)
    return true
  }

  /** Adds definitions, references and links of a text. */
  #addDefinitions(node: GraphSourceNode, heading: string | undefined): void {
    if (heading === undefined) return
    for (const [quickTest, pattern, type] of [
      [/means|is defined as|refers to|is the term/, DEFINITION, 'defines'],
      [/section|chapter|appendix|part/i, SECTION_REFERENCE, 'references'],
      [/\]\(/, LINK, 'references'],
    ] as const)
      for (const match of quickTest.test(node.text) ? node.text.matchAll(pattern) : []) {
        const object = this.#addTerm((match[1] ?? '').trim(), node.key, 0.75)
        if (object !== undefined)
          this.#addRelation({ subject: heading, object, type, predicate: '', confidence: 0.75 }, node.key)
      }
  }

  #addMentions(subject: string, object: string, node: number): void {
    this.#addRelation({ subject, object, type: 'mentions', predicate: '', confidence: CO_OCCURRENCE_CONFIDENCE }, node)
  }

  #addRelation(relation: Omit<ExtractedRelation, 'nodes'>, node: number): void {
    if (relation.subject === relation.object) return
    const id = toRelationId(relation)
    const known = this.#graph.relations.get(id) ?? { ...relation, nodes: new Set<number>() }
    known.nodes.add(node)
    this.#graph.relations.set(id, known)
  }
}

function toPairKey(first: string, second: string): string {
  return first < second ? `${first}\n${second}` : `${second}\n${first}`
}

/** Mentions of the first few names of a text. */
function mentionsOfFirstNames(mentions: readonly EntityMention[]): EntityMention[] {
  const names = new Set([...new Set(mentions.map(({ canonicalKey: key }) => key))].slice(0, MAX_NODE_ENTITIES))
  return mentions.filter(({ canonicalKey: key }) => names.has(key))
}
