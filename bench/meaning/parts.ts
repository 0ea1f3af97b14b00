import type { Figure } from '../lib/report.js'
import { run as research } from './research.js'

/** A part of what the product says of documents, measured by itself. */
export interface Part {
  name: string
  /** what it measures, in a line */
  measures: string
  run: () => Promise<Figure[]>
}

/** In the order in which they are run when none is named. */
export const PARTS: readonly Part[] = [
  { name: 'research', measures: 'research reports by rules, and pages of long filings', run: research },
]
