import { isRecord } from '../../../lib/json/values.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import type { ToolCall } from '../types.js'
import { listAt, recordAt } from './json.js'

/** More than this no answer asks for; servers that repeat themselves are cut here. */
const MAX_CALLS = 32
const MAX_ARGUMENT_CHARS = 256 * 1024

/** The calls of one answer, put together from the pieces that a stream gives of them; a whole message is one piece. */
export class ToolCalls {
  readonly #calls = new Map<number, ToolCall>()

  /** @throws ProviderFailure `malformed` when there is no end of it */
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
        throw new ProviderFailure('malformed', 'calls of tools without end')
    }
  }

  /** In the order of the answer; a call without an id gets its place as one. */
  list(): ToolCall[] {
    return [...this.#calls]
      .sort(([a], [b]) => a - b)
      .map(([index, call]) => ({ ...call, id: call.id === '' ? `call_${index}` : call.id }))
      .filter(({ name }) => name !== '')
  }
}
