import { isRecord } from '../lib/json/values.js'
import { CHAT_DESCRIPTIONS } from './words/chat.js'
import { COMMON_DESCRIPTIONS } from './words/common.js'
import { GATEWAY_DESCRIPTIONS } from './words/gateway.js'
import { GRAPH_DESCRIPTIONS } from './words/graph.js'
import { READING_DESCRIPTIONS } from './words/reading.js'

/** A name means the same in all schemas; a schema that deviates describes its field itself. */
const DESCRIPTIONS: ReadonlyMap<string, string> = new Map(
  [COMMON_DESCRIPTIONS, GATEWAY_DESCRIPTIONS, GRAPH_DESCRIPTIONS, READING_DESCRIPTIONS, CHAT_DESCRIPTIONS].flatMap(
    (words) => Object.entries(words),
  ),
)

/** Describes, in place, every property and parameter of an OpenAPI description that has no description yet. */
export function describeProperties(value: unknown): void {
  if (Array.isArray(value)) {
    for (const entry of value) describeProperties(entry)
    return
  }
  if (!isRecord(value)) return
  if (isRecord(value.properties) && (value.type === 'object' || value.type === undefined))
    for (const [name, property] of Object.entries(value.properties)) addDescription(name, property)
  if (typeof value.name === 'string' && typeof value.in === 'string') addDescription(value.name, value)
  for (const child of Object.values(value)) describeProperties(child)
}

function addDescription(name: string, target: unknown): void {
  const words = DESCRIPTIONS.get(name)
  if (words !== undefined && isRecord(target) && target.description === undefined) target.description = words
}
