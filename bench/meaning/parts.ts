import type { Figure } from '../lib/report.js'
import { run as relations } from './relations.js'
import { run as topics } from './topics.js'

/** A part of what the product says of documents, measured by itself. */
export interface Part {
  name: string
  /** what it measures, in a line */
  measures: string
  run: () => Promise<Figure[]>
}

/** In the order in which they are run when none is named. */
export const PARTS: readonly Part[] = [
  { name: 'relations', measures: 'what the rules of the graph state of sentences and of real text', run: relations },
  { name: 'topics', measures: 'what topics are called, and how pure they are', run: topics },
]
