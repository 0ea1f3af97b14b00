import type { ResearchStage } from '../../../../contract/gateway/research.js'
import { defineTransitions } from '../../../base/transitions.js'

/**
 * The moves of a research task: queued → planning → retrieving → analyzing → generating →
 * completed; any of these → failed | canceled. A stage names the work in progress; the move to the next one is written
 * in the transaction that stores its result.
 */
export const {
  may: mayMove,
  assert: assertMove,
  isTerminal,
} = defineTransitions<ResearchStage>('research task', {
  queued: ['planning', 'failed', 'canceled'],
  planning: ['retrieving', 'failed', 'canceled'],
  retrieving: ['analyzing', 'failed', 'canceled'],
  analyzing: ['generating', 'failed', 'canceled'],
  generating: ['completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
})
