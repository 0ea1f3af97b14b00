import type { Figure } from '../lib/report.js'
import { run as clusters } from './clusters.js'
import { run as triage } from './triage.js'

/** A part of what the product says of documents, measured by itself. */
export interface Part {
  name: string
  /** what it measures, in a line */
  measures: string
  run: () => Promise<Figure[]>
}

/** In the order in which they are run when none is named. */
export const PARTS: readonly Part[] = [
  { name: 'triage', measures: 'which cause triage gives to failed questions whose cause is known', run: triage },
  { name: 'clusters', measures: 'whether failed questions that ask the same are one cluster', run: clusters },
]
