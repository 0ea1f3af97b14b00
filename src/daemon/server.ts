import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { chatAppRoutes } from '../contract/chat/apps.js'
import { gatewayRoutes } from '../contract/gateway/routes.js'
import { chatAppHandlers } from './chat/apps.js'
import { mountChat } from './chat/mount.js'
import { gatewayHandlers } from './gateway/handlers.js'
import { createEdge, type EdgeBindings, type EdgeOptions } from './handle.js'
import { compileRoutes } from './routing.js'

export type DaemonApp = Hono<{ Bindings: EdgeBindings }>

/** The application: Hono finds the path, everything else is the edge's work. */
export function createApp(options: EdgeOptions): DaemonApp {
  const edge = createEdge(options)
  const app: DaemonApp = new Hono<{ Bindings: EdgeBindings }>({ getPath: routedPath })
  const handlers = { ...gatewayHandlers(options.deps), ...chatAppHandlers(options.deps) }
  for (const path of compileRoutes([...gatewayRoutes, ...chatAppRoutes], handlers))
    app.all(path.pattern, (context) => edge(context, path))
  mountChat(app, options)
  app.notFound((context) => edge(context, undefined))
  return app
}

/** A base address that ends in a slash makes `/v1//chat-messages` of `/chat-messages`: below `/v1` slashes count once. */
function routedPath(request: Request): string {
  const path = getPath(request)
  return /^\/+v1\//.test(path) ? path.replace(/\/{2,}/g, '/') : path
}
