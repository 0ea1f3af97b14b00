import type { Figure } from '../lib/report.js'
import { run as abstention } from './abstention.js'
import * as answers from './answers.js'
import { run as clusters } from './clusters.js'
import { run as compounds } from './compounds.js'
import { run as contradictions } from './contradictions.js'
import { run as embedders } from './embedders.js'
import { run as evidence } from './evidence.js'
import { run as gate } from './gate.js'
import { run as languages } from './languages.js'
import { run as model } from './model.js'
import { run as relations } from './relations.js'
import { run as research } from './research.js'
import { run as topics } from './topics.js'
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
  {
    name: 'embedders',
    measures: 'what embedding models of known quality make better, and what noise costs',
    run: embedders,
  },
  { name: 'gate', measures: 'which questions are refused, told the closest passages, or answered', run: gate },
  {
    name: 'abstention',
    measures: 'what nothing in a space answers: how it is told, on halves that share neither documents nor questions',
    run: abstention,
  },
  { name: 'evidence', measures: 'where evidence stops, and what that costs', run: evidence },
  { name: 'answers', measures: 'answers without a model: gold strings, lengths, names, conclusions', run: answers.run },
  {
    name: 'contradictions',
    measures: 'pairs of statements that contradict each other, and near misses',
    run: contradictions,
  },
  { name: 'relations', measures: 'what the rules of the graph state of sentences and of real text', run: relations },
  { name: 'topics', measures: 'what topics are called, and how pure they are', run: topics },
  { name: 'languages', measures: 'plain questions over one-sentence documents, by language', run: languages },
  {
    name: 'compounds',
    measures: 'compounds asked in parts, and parts asked as compounds, in six languages',
    run: compounds,
  },
  { name: 'triage', measures: 'which cause triage gives to failed questions whose cause is known', run: triage },
  { name: 'clusters', measures: 'whether failed questions that ask the same are one cluster', run: clusters },
  { name: 'model', measures: 'whether a configured model is asked, and with what', run: model },
  { name: 'research', measures: 'research reports by rules, and pages of long filings', run: research },
]
