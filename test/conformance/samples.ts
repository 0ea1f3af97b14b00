import type { z } from 'zod'
import { findSchemaAt, type JsonSchema, resolveRef, toJsonSchema } from '../../src/contract/json-schema.js'

/** Values from a route's schemas: one valid value, and for each rule the last valid and the first invalid one. */

export const SOME_UUID = '018f0000-0000-7000-8000-000000000001'

/** Strings that match a pattern, by the name of the key. */
const PATTERNED: Record<string, string> = {
  path: '/sources',
  oldPath: '/workspaces/a',
  newPath: '/workspaces/b',
  slug: 'a-slug',
  ids: SOME_UUID,
  topicSlug: 'a-slug',
  sha256: 'a'.repeat(64),
  variant: 'thumb',
  jti: 'none',
}

type Path = (string | number)[]

export interface Edge {
  path: Path
  value: unknown
  fits: boolean
  /** the tested rule, for the test's message */
  rule: string
}

type Where = 'body' | 'query'

/** The schema of a query with its parsed types, but the required keys of the request. */
export function schemaOf(schema: z.ZodType, where: Where): JsonSchema {
  const sent = toJsonSchema(schema, 'input')
  return where === 'body' ? sent : { ...toJsonSchema(schema, 'output'), required: sent.required ?? [] }
}

/** The smallest valid value: required keys only. */
export function sample(root: JsonSchema, schema: JsonSchema = root, key = ''): unknown {
  const at = resolveRef(root, schema)
  if (at.enum !== undefined) return at.enum[0]
  if (at.anyOf !== undefined) return sample(root, at.anyOf[0], key)
  if (at.format === 'uuid') return SOME_UUID
  switch (at.type) {
    case 'string':
      return PATTERNED[key] ?? 'x'.repeat(Math.max(1, at.minLength ?? 1))
    case 'integer':
    case 'number':
      return at.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: at.minItems ?? 0 }, () => sample(root, at.items ?? {}, key))
    default:
      return Object.fromEntries(
        Object.entries(at.properties ?? {})
          .filter(([name]) => (at.required ?? []).includes(name))
          .map(([name, property]) => [name, sample(root, property, name)]),
      )
  }
}

/** Every rule below a schema, with values on both sides of its limit. */
export function edges(root: JsonSchema, schema: JsonSchema = root, path: Path = []): Edge[] {
  const at = resolveRef(root, schema)
  const key = String(path.findLast((part) => typeof part === 'string') ?? '')
  const edge = (value: unknown, fits: boolean, rule: string): Edge => ({ path, value, fits, rule })
  if (at.properties !== undefined) return objectEdges(root, at, path)
  const [one, other, ...rest] = at.anyOf ?? []
  if (one !== undefined && other?.type === 'null' && rest.length === 0)
    return [...edges(root, one, path), edge(null, true, 'nullable')]
  if (at.enum !== undefined)
    return [...at.enum.map((value) => edge(value, true, 'choice')), edge('nonsense', false, 'choice')]
  if (at.format === 'uuid') return [edge('not-a-uuid', false, 'uuid')]
  if (at.type === 'string') return stringEdges(at, key, edge)
  if (at.type === 'integer' || at.type === 'number') return numberEdges(at, edge)
  if (at.type === 'boolean') return [edge('nonsense', false, 'boolean')]
  if (at.type === 'array') return arrayEdges(root, at, path, edge)
  return []
}

function objectEdges(root: JsonSchema, at: JsonSchema, path: Path): Edge[] {
  const inner = Object.entries(at.properties ?? {}).flatMap(([name, property]) =>
    edges(root, property, [...path, name]),
  )
  const stranger: Edge = { path: [...path, 'stranger'], value: 1, fits: false, rule: 'unknown key' }
  const missing = (at.required ?? []).map(
    (name): Edge => ({ path: [...path, name], value: undefined, fits: false, rule: 'required key' }),
  )
  return [...inner, ...(at.additionalProperties === false ? [stranger] : []), ...missing]
}

type Make = (value: unknown, fits: boolean, rule: string) => Edge

function stringEdges(at: JsonSchema, key: string, edge: Make): Edge[] {
  const unit = (PATTERNED[key] ?? 'x')[0] ?? 'x'
  const found: Edge[] = []
  if (at.maxLength !== undefined) {
    found.push(edge(unit.repeat(at.maxLength), true, `at most ${at.maxLength} characters`))
    found.push(edge(unit.repeat(at.maxLength + 1), false, `at most ${at.maxLength} characters`))
  }
  if (at.minLength !== undefined) found.push(edge('', false, `at least ${at.minLength} characters`))
  if (at.pattern !== undefined) found.push(edge('\u0001?', false, `pattern ${at.pattern}`))
  return found
}

function numberEdges(at: JsonSchema, edge: Make): Edge[] {
  const found = [edge('one', false, 'number'), edge('1e1', false, 'number')]
  if (at.type === 'integer') found.push(edge((at.minimum ?? 0) + 0.5, false, 'integer'))
  if (at.minimum !== undefined) {
    found.push(edge(at.minimum, true, `at least ${at.minimum}`), edge(at.minimum - 1, false, `at least ${at.minimum}`))
  }
  if (at.maximum !== undefined) {
    found.push(edge(at.maximum, true, `at most ${at.maximum}`), edge(at.maximum + 1, false, `at most ${at.maximum}`))
  }
  return found
}

function arrayEdges(root: JsonSchema, at: JsonSchema, path: Path, edge: Make): Edge[] {
  const item = () => sample(root, at.items ?? {})
  const list = (length: number) => Array.from({ length }, item)
  const found = [edge('nonsense', false, 'array')]
  if (at.minItems !== undefined && at.minItems > 0)
    found.push(edge(list(at.minItems - 1), false, `at least ${at.minItems} items`))
  if (at.maxItems !== undefined) {
    found.push(edge(list(at.maxItems), true, `at most ${at.maxItems} items`))
    found.push(edge(list(at.maxItems + 1), false, `at most ${at.maxItems} items`))
  }
  // One item beyond each rule of the items.
  const inner = edges(root, at.items ?? {}, [...path, 0]).map((each) => ({
    ...each,
    path,
    value: within(item(), each, path.length + 1),
  }))
  return [...found, ...inner.map((each) => ({ ...each, value: [each.value] }))]
}

function within(base: unknown, edge: Edge, depth: number): unknown {
  return place(base, edge.path.slice(depth), edge.value)
}

/** A copy of `base` with the tested value at its path; objects on that path are completed. */
export function withEdge(root: JsonSchema, base: unknown, edge: Edge): unknown {
  let filled = base
  for (let depth = 1; depth < edge.path.length; depth++) {
    const prefix = edge.path.slice(0, depth)
    const there = prefix.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)?.[key], filled)
    if (there === undefined) filled = place(filled, prefix, sample(root, findSchemaAt(root, prefix) ?? {}))
  }
  return place(filled, edge.path, edge.value)
}

/** A copy of `base` with `value` at `path`; undefined removes the key. */
export function place(base: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  const copy: Record<string | number, unknown> = { ...(base as Record<string, unknown>) }
  const next = place(copy[key], rest, value)
  if (next === undefined) delete copy[key]
  else copy[key] = next
  return copy
}
