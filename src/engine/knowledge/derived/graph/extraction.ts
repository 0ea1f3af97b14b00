import type { EntityMention } from './entities.js'
import type { Predicate } from './predicates.js'

export type ExtractedRelationType = 'contradicts' | 'defines' | 'depends_on' | 'mentions' | 'references' | 'supersedes'

export interface ExtractedEntity {
  found: EntityMention
  /** spellings in the order in which they were found */
  names: Set<string>
  nodes: Set<number>
}

/** A relation whose ends are canonical keys. */
export interface ExtractedRelation {
  subject: string
  object: string
  type: ExtractedRelationType
  /** more specific than the type; empty where there is only the type */
  predicate: Predicate | ''
  confidence: number
  nodes: Set<number>
}

/** The graph of one document; entities by canonical key. */
export interface GraphExtraction {
  entities: Map<string, ExtractedEntity>
  relations: Map<string, ExtractedRelation>
}

/** Identifier of a relation within a document. */
export function toRelationId({
  subject,
  object,
  type,
  predicate,
}: Pick<ExtractedRelation, 'subject' | 'object' | 'type' | 'predicate'>): string {
  return `${type}/${predicate}\n${subject}\n${object}`
}
