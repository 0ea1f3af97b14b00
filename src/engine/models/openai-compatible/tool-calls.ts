import { isRecord } from '../../../lib/json/values.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import type { ToolCall } from '../types.js'
import { listAt, recordAt } from './json.js'

/** No answer needs more calls; servers that repeat themselves are stopped here. */
const MAX_CALLS = 32
const MAX_ARGUMENT_CHARS = 256 * 1024

/** The tool calls of one answer, assembled from the fragments of a stream; a complete message is one fragment. */
export class ToolCalls {
  readonly #calls = new Map<number, ToolCall>()

  /** @throws ProviderFailure `malformed` when there are too many calls or arguments */
  take(message: Record<string, unknown>): void {
    for (const [place, piece] of listAt(message, 'tool_calls').entries()) {
      if (!isRecord(piece)) continue
      const index = typeof piece.index === 'number' ? piece.index : place
      const call = this.#calls.get(index) ?? { id: '', name: '', arguments: '' }
      const said = recordAt(piece, 'function')
      if (typeof piece.id === 'string' && call.id === '') call.id = piece.id.slice(0, 200)
      if (typeof said.name === 'string') call.name = (call.name + said.name).slice(0, 200)
      if (typeof said.arguments === 'string') call.arguments += said.arguments
      this.#calls.set(index, call)
      if (this.#calls.size > MAX_CALLS || call.arguments.length > MAX_ARGUMENT_CHARS)
        throw new ProviderFailure('malformed', 'too many tool calls, or too long arguments')
    }
  }

  /** In the order of the answer; a call without an id gets an id from its index. */
  list(): ToolCall[] {
    return [...this.#calls]
      .sort(([a], [b]) => a - b)
      .map(([index, call]) => ({ ...call, id: call.id === '' ? `call_${index}` : call.id }))
      .filter(({ name }) => name !== '')
  }
}
