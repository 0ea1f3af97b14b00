import { isRecord } from '../lib/json/values.js'
import { CHAT_WORDS } from './words/chat.js'
import { COMMON_WORDS } from './words/common.js'
import { GATEWAY_WORDS } from './words/gateway.js'
import { GRAPH_WORDS } from './words/graph.js'
import { READING_WORDS } from './words/reading.js'

/** A name means the same in all schemas; a schema that deviates describes its field itself. */
const WORDS: ReadonlyMap<string, string> = new Map(
  [COMMON_WORDS, GATEWAY_WORDS, GRAPH_WORDS, READING_WORDS, CHAT_WORDS].flatMap((words) => Object.entries(words)),
)

/** Describes, in place, every property and parameter of an OpenAPI description that has no description yet. */
export function describeProperties(value: unknown): void {
  if (Array.isArray(value)) {
    for (const entry of value) describeProperties(entry)
    return
  }
  if (!isRecord(value)) return
  if (isRecord(value.properties) && (value.type === 'object' || value.type === undefined))
    for (const [name, property] of Object.entries(value.properties)) describe(name, property)
  if (typeof value.name === 'string' && typeof value.in === 'string') describe(value.name, value)
  for (const part of Object.values(value)) describeProperties(part)
}

function describe(name: string, target: unknown): void {
  const words = WORDS.get(name)
  if (words !== undefined && isRecord(target) && target.description === undefined) target.description = words
}
