import { isRecord } from '../lib/json/values.js'
import { ANSWER_DESCRIPTIONS } from './words/answers.js'
import { CHAT_DESCRIPTIONS } from './words/chat.js'
import { CHAT_APP_DESCRIPTIONS } from './words/chat-apps.js'
import { COMMON_DESCRIPTIONS } from './words/common.js'
import { CONTENT_DESCRIPTIONS } from './words/content.js'
import { GATEWAY_DESCRIPTIONS } from './words/gateway.js'
import { GRAPH_DESCRIPTIONS } from './words/graph.js'
import { NOUNS } from './words/nouns.js'
import { READING_DESCRIPTIONS } from './words/reading.js'
import { SERVICE_DESCRIPTIONS } from './words/service.js'

/**
 * Texts by key: the name of a field, or the end of its path, such as `ChatApp.enabled` or `window.start`. Several keys
 * of one text are separated by spaces.
 */
const DESCRIPTIONS: ReadonlyMap<string, string> = new Map(
  [
    COMMON_DESCRIPTIONS,
    GATEWAY_DESCRIPTIONS,
    GRAPH_DESCRIPTIONS,
    READING_DESCRIPTIONS,
    CONTENT_DESCRIPTIONS,
    ANSWER_DESCRIPTIONS,
    SERVICE_DESCRIPTIONS,
    CHAT_DESCRIPTIONS,
    CHAT_APP_DESCRIPTIONS,
  ]
    .flatMap((words) => Object.entries(words))
    .flatMap(([keys, text]) => keys.split(' ').map((key) => [key, text] as const)),
)

/**
 * Describes, in place, every property and parameter of an OpenAPI description that has no description yet. The path of
 * a property starts with its schema or operation, that of a path parameter with the segment before it.
 */
export function describeProperties({ paths, ...rest }: { paths: object; components: { schemas: object } }): void {
  for (const [path, operations] of Object.entries(paths))
    for (const operation of Object.values(operations)) describeOperation(path, operation)
  for (const [name, schema] of Object.entries(rest.components.schemas)) describe(schema, [name.replace(/Input$/, '')])
}

function describeOperation(path: string, operation: unknown): void {
  if (!isRecord(operation)) return
  const id = String(operation.operationId)
  const { parameters, ...others } = operation
  for (const parameter of Array.isArray(parameters) ? parameters : []) {
    const { name, in: location } = parameter
    const precedingSegment = path.split('/').at(path.split('/').indexOf(`{${name}}`) - 1)
    addDescription(parameter, [location === 'path' && precedingSegment !== undefined ? precedingSegment : id, name])
  }
  describe(others, [id])
}

function describe(value: unknown, path: readonly string[]): void {
  if (Array.isArray(value)) {
    for (const entry of value) describe(entry, path)
    return
  }
  if (!isRecord(value)) return
  const { properties, ...others } = value
  if (isRecord(properties) && (value.type === 'object' || value.type === undefined))
    for (const [name, property] of Object.entries(properties)) {
      addDescription(property, [...path, name])
      describe(property, [...path, name])
    }
  describe(Object.values(others), path)
}

/** Adds the text of the longest key that ends the path. */
function addDescription(target: unknown, path: readonly string[]): void {
  if (!isRecord(target) || target.description !== undefined) return
  const text = path
    .map((_, start) => DESCRIPTIONS.get(path.slice(start).join('.')))
    .find((found) => found !== undefined)
  if (text !== undefined) target.description = text.replace('{noun}', getNoun(path.slice(0, -1)))
}

/** The resource that a path leads to: the innermost known noun, or the words of the schema's name. */
function getNoun(path: readonly string[]): string {
  const noun = path.findLast((name) => Object.hasOwn(NOUNS, name)) ?? ''
  return NOUNS[noun] ?? (path[0] ?? '').replaceAll(/(?<!^)[A-Z]/g, ' $&').toLowerCase()
}
