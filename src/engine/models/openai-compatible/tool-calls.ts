import { isRecord } from '../../../lib/json/values.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import type { ToolCall } from '../types.js'
import { getList, getRecord } from './json.js'

/** No answer needs more calls; servers that repeat themselves are stopped here. */
const MAX_TOOL_CALLS = 32
const MAX_ARGUMENT_CHARACTERS = 256 * 1024

/** The tool calls of one answer, assembled from the fragments of a stream; a complete message is one fragment. */
export class ToolCallCollector {
  readonly #calls = new Map<number, ToolCall>()

  /** @throws ProviderFailure `malformed` when there are too many calls or arguments */
  addFragment(message: Record<string, unknown>): void {
    for (const [position, fragment] of getList(message, 'tool_calls').entries()) {
      if (!isRecord(fragment)) continue
      const index = typeof fragment.index === 'number' ? fragment.index : position
      const call = this.#calls.get(index) ?? { id: '', name: '', arguments: '' }
      const fn = getRecord(fragment, 'function')
      if (typeof fragment.id === 'string' && call.id === '') call.id = fragment.id.slice(0, 200)
      if (typeof fn.name === 'string') call.name = (call.name + fn.name).slice(0, 200)
      if (typeof fn.arguments === 'string') call.arguments += fn.arguments
      this.#calls.set(index, call)
      if (this.#calls.size > MAX_TOOL_CALLS || call.arguments.length > MAX_ARGUMENT_CHARACTERS)
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
