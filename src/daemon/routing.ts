import { z } from 'zod'
import { needsBody, type RouteDefinition } from '../contract/route.js'
import { formatAllow } from './http/head.js'
import type { AnyHandler } from './operation.js'

/** A route with its handler and values precomputed for every request. */
export interface RoutedOperation {
  route: RouteDefinition
  handler: AnyHandler
  /** False if all keys of the body are optional, so that the body may be omitted. */
  needsBody: boolean
  /** The status of routes with one success status; others return it in their reply. */
  status: number | undefined
  /** Schema of each success body that has one. */
  bodies: ReadonlyMap<number, z.ZodType>
}

/** All operations of one path template. */
export interface PathOperations {
  /** Pattern in the syntax of the router: `/jobs/:id`. */
  pattern: string
  methods: ReadonlyMap<string, RoutedOperation>
  /** Value of the Allow header. */
  allow: string
  /** Whether any method of the path needs a token. */
  guarded: boolean
}

/**
 * Groups routes by path. Paths with fewer parameters come first, because the router uses the first match and
 * `/documents/bulk` must precede `/documents/{documentId}`.
 */
export function compileRoutes(
  routes: readonly RouteDefinition[],
  handlers: Readonly<Record<string, AnyHandler>>,
): PathOperations[] {
  const paths = new Map<string, Map<string, RoutedOperation>>()
  for (const route of routes) {
    const handler = handlers[route.id]
    if (handler === undefined) throw new Error(`the route ${route.id} has no handler`)
    const methods = paths.get(route.path) ?? new Map<string, RoutedOperation>()
    methods.set(route.method, toOperation(route, handler))
    paths.set(route.path, methods)
  }
  return [...paths]
    .map(([path, methods]) => ({
      pattern: toPattern(path),
      methods,
      allow: formatAllow(methods.keys()),
      guarded: [...methods.values()].some(({ route }) => route.scope !== 'public'),
    }))
    .sort((a, b) => countParameters(a.pattern) - countParameters(b.pattern))
}

function toOperation(route: RouteDefinition, handler: AnyHandler): RoutedOperation {
  const statuses = Object.keys(route.ok).map(Number)
  const bodies = new Map<number, z.ZodType>()
  for (const [status, body] of Object.entries(route.ok)) if (body instanceof z.ZodType) bodies.set(Number(status), body)
  return {
    route,
    handler,
    needsBody: needsBody(route),
    status: statuses.length === 1 ? statuses[0] : undefined,
    bodies,
  }
}

function toPattern(path: string): string {
  return path.replace(/\{(\w+)\*\}$/, ':$1{.+}').replace(/\{(\w+)\}/g, ':$1')
}

function countParameters(path: string): number {
  return path.split(':').length - 1
}
