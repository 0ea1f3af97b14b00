import { isRecord, parseJson } from '../../../lib/json/values.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import type { ToolCall } from '../types.js'
import { getList, getRecord } from './json.js'

/** No answer needs more calls; servers that repeat themselves are stopped here. */
const MAX_TOOL_CALLS = 32
const MAX_ARGUMENT_CHARACTERS = 256 * 1024
const MAX_NAME_CHARACTERS = 200

interface CollectedCall extends ToolCall {
  index: number | undefined
}

/** The tool calls of one answer, assembled from the fragments of a stream; a complete message is one fragment. */
export class ToolCallCollector {
  readonly #calls: CollectedCall[] = []

  /** @throws ProviderFailure `malformed` when there are too many calls or arguments */
  addFragment(message: Record<string, unknown>): void {
    for (const fragment of getList(message, 'tool_calls')) {
      if (!isRecord(fragment)) continue
      const fn = getRecord(fragment, 'function')
      const name = typeof fn.name === 'string' ? fn.name.slice(0, MAX_NAME_CHARACTERS) : ''
      const call = this.#findCall(fragment, name) ?? this.#addCall(fragment)
      if (name !== call.name) call.name = (call.name + name).slice(0, MAX_NAME_CHARACTERS)
      call.arguments += toArgumentText(fn.arguments)
      if (this.#calls.length > MAX_TOOL_CALLS || call.arguments.length > MAX_ARGUMENT_CHARACTERS)
        throw new ProviderFailure('malformed', 'too many tool calls, or too long arguments')
    }
  }

  /** In the order of the answer; a call without an id gets an id from its position. */
  list(): ToolCall[] {
    return this.#calls
      .map(({ id, name, arguments: text }, position) => ({
        id: id === '' ? `call_${position}` : id,
        name,
        arguments: text === '' ? '{}' : text,
      }))
      .filter(({ name }) => name !== '')
  }

  /**
   * The call that a fragment continues. Servers omit the index, give every call the same one, or repeat the name: a named
   * fragment begins a call, unless its index or id is that of a call whose arguments are incomplete.
   */
  #findCall(fragment: Record<string, unknown>, name: string): CollectedCall | undefined {
    const id = readId(fragment)
    const sameId = id === '' ? undefined : this.#calls.findLast((call) => call.id === id)
    if (sameId !== undefined) return sameId
    const index = readIndex(fragment)
    const candidate = index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index)
    if (candidate === undefined || name === '') return candidate
    const isContinued = index !== undefined && (id === '' || candidate.id === '')
    return isContinued && parseJson(candidate.arguments) === undefined ? candidate : undefined
  }

  #addCall(fragment: Record<string, unknown>): CollectedCall {
    const call = { id: readId(fragment), name: '', arguments: '', index: readIndex(fragment) }
    this.#calls.push(call)
    return call
  }
}

function readId({ id }: Record<string, unknown>): string {
  return typeof id === 'string' ? id.slice(0, MAX_NAME_CHARACTERS) : ''
}

function readIndex({ index }: Record<string, unknown>): number | undefined {
  return typeof index === 'number' ? index : undefined
}

/** Some servers send the arguments as an object instead of its JSON. */
function toArgumentText(value: unknown): string {
  if (typeof value === 'string') return value
  return isRecord(value) ? JSON.stringify(value) : ''
}
