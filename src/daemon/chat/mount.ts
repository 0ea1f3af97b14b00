import type { Hono } from 'hono'
import { chatRoutes } from '../../contract/chat/routes.js'
import type { EdgeBindings, EdgeOptions } from '../handle.js'
import { type AnyChatHandler, type ChatPath, createChatEdge } from './edge.js'
import { chatHandlers } from './handlers.js'

/** Serves the chat service below `/v1`. What is not routed there is 404 in the chat service's own words. */
export function mountChat(app: Hono<{ Bindings: EdgeBindings }>, options: EdgeOptions): void {
  const edge = createChatEdge(options)
  const handlers: Readonly<Record<string, AnyChatHandler>> = chatHandlers(options.deps.engine)
  const paths = new Map<string, Map<string, { route: (typeof chatRoutes)[number]; handler: AnyChatHandler }>>()
  for (const route of chatRoutes) {
    const handler = handlers[route.id]
    if (handler === undefined) throw new Error(`the route ${route.id} has no handler`)
    const pattern = route.path.replace(/\{(\w+)\}/g, ':$1')
    const methods = paths.get(pattern) ?? new Map()
    paths.set(pattern, methods.set(route.method, { route, handler }))
  }
  for (const [pattern, methods] of paths) {
    const path: ChatPath = methods
    app.all(pattern, (context) => edge(context, path))
  }
  for (const pattern of ['/v1', '/v1/']) app.all(pattern, (context) => edge(context, 'root'))
  app.all('/v1/*', (context) => edge(context, undefined))
}
