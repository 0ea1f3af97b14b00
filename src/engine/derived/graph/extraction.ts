import type { FoundEntity } from './entities.js'
import type { Predicate } from './predicates.js'

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
  /** what is stated more exactly than the type says; empty for the type alone */
  predicate: Predicate | ''
  confidence: number
  nodes: Set<number>
}

/** What a document says, entities by canonical key. */
export interface Extraction {
  entities: Map<string, ExtractedEntity>
  relations: Map<string, ExtractedRelation>
}

/** What tells relations of a document apart. */
export function relationId({
  subject,
  object,
  type,
  predicate,
}: Pick<ExtractedRelation, 'subject' | 'object' | 'type' | 'predicate'>): string {
  return `${type}/${predicate}\n${subject}\n${object}`
}
