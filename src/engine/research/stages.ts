import type { ResearchStage } from '../../contract/gateway/research.js'

/**
 * The moves of a research task (decisions.md section 4): queued → planning → retrieving → analyzing → generating →
 * completed; any of these → failed | canceled. A stage says what is being done; the move to the next is written in the
 * transaction that stores what it came to.
 */
export const MOVES: Record<ResearchStage, readonly ResearchStage[]> = {
  queued: ['planning', 'failed', 'canceled'],
  planning: ['retrieving', 'failed', 'canceled'],
  retrieving: ['analyzing', 'failed', 'canceled'],
  analyzing: ['generating', 'failed', 'canceled'],
  generating: ['completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
}

export function mayMove(from: ResearchStage, to: ResearchStage): boolean {
  return MOVES[from].includes(to)
}

/** Whether a task has ended: nothing leads on from there. */
export function isTerminal(stage: ResearchStage): boolean {
  return MOVES[stage].length === 0
}
