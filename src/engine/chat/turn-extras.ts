import type { AgentThought, RetrieverResource } from '../../contract/chat/messages.js'
import type { Degradation } from '../base/degraded.js'
import type { TokenMeter } from '../models/meter.js'
import type { AnnotationReply, AnswerPiece } from './answer.js'
import type { RunningTurn } from './turn.js'

/** Results of a turn other than its text. */
export interface TurnExtras {
  resources: RetrieverResource[]
  meter: TokenMeter
  annotation: AnnotationReply
  thoughts: AgentThought[]
  degraded: readonly Degradation[]
}

/** Sends an event of the answer to the turn's readers, and collects what is stored with the answer. */
export function takePiece(turn: RunningTurn, extras: TurnExtras, piece: AnswerPiece): void {
  if (piece.type === 'delta') turn.say(piece.text, piece.agent === true ? 'agent_message' : 'message')
  else if (piece.type === 'settled') turn.settled = true
  else if (piece.type === 'degraded') extras.degraded = piece.degraded
  else if (piece.type === 'annotation') extras.annotation = piece.annotation
  else if (piece.type === 'thought') {
    extras.thoughts = [...extras.thoughts.filter(({ id }) => id !== piece.thought.id), piece.thought]
    turn.think(piece.thought)
  } else if (piece.type === 'replace') {
    // Reasoning that led to sensitive words is not stored either.
    extras.thoughts = []
    turn.replace(piece.text)
  } else extras.resources = piece.resources
}
