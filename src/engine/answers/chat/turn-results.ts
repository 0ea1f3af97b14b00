import type { AgentThought, RetrieverResource } from '../../../contract/chat/messages.js'
import type { Degradation } from '../../base/degraded.js'
import { TokenMeter } from '../../models/index.js'
import type { AnnotationReply, ChatAnswerEvent } from './answer.js'
import type { RunningTurn } from './turn.js'

/** Results of a turn other than its text. */
export interface TurnResults {
  resources: RetrieverResource[]
  meter: TokenMeter
  annotation: AnnotationReply
  thoughts: AgentThought[]
  degraded: readonly Degradation[]
}

export function createTurnResults(): TurnResults {
  return { resources: [], meter: new TokenMeter(), annotation: null, thoughts: [], degraded: [] }
}

/** Sends an event of the answer to the turn's readers, and collects what is stored with the answer. */
export function applyEvent(turn: RunningTurn, results: TurnResults, event: ChatAnswerEvent): void {
  if (event.type === 'delta') turn.sendText(event.text, event.agent === true ? 'agent_message' : 'message')
  else if (event.type === 'settled') turn.settled = true
  else if (event.type === 'degraded') results.degraded = event.degraded
  else if (event.type === 'annotation') results.annotation = event.annotation
  else if (event.type === 'thought') {
    results.thoughts = [...results.thoughts.filter(({ id }) => id !== event.thought.id), event.thought]
    turn.sendThought(event.thought)
  } else if (event.type === 'replace') {
    // Reasoning that led to sensitive words is not stored either.
    results.thoughts = []
    turn.replace(event.text)
  } else results.resources = event.resources
}
