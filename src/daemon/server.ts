import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { chatRoutes } from '../contract/chat/routes.js'
import type { RouteDefinition } from '../contract/route.js'
import { lazy } from '../lib/lazy.js'
import { chatDialect } from './chat/dialect.js'
import { createChatHandlers } from './chat/handlers.js'
import { createChatPageHandler } from './chat/page.js'
import { createVisitHandlers, visitRoutes } from './chat/visit-routes.js'
import { welcomeHandlers, welcomeRoutes } from './chat/welcome.js'
import { consoleHandlers } from './console/handlers.js'
import { consoleRoutes } from './console/routes.js'
import { CONSOLE_PATH, createConsolePageHandler } from './console/serve.js'
import { createEdge, type EdgeBindings, type EdgeOptions, type RequestHandler } from './edge.js'
import { gatewayDialect } from './gateway/dialect.js'
import { daemonRoutes, gatewayHandlers } from './gateway/handlers.js'
import { serveMcp } from './mcp.js'
import type { AnyHandler } from './operation.js'
import { compileRoutes } from './routing.js'

export type DaemonApp = Hono<{ Bindings: EdgeBindings }>

/** Creates the application: Hono finds the path, the edge does the rest. */
export function createApp(options: EdgeOptions): DaemonApp {
  const { deps } = options
  const app: DaemonApp = new Hono<{ Bindings: EdgeBindings }>({ getPath: getRoutedPath })
  const serve = (
    edge: RequestHandler,
    routes: readonly RouteDefinition[],
    handlers: Readonly<Record<string, AnyHandler>>,
  ) => {
    for (const path of compileRoutes(routes, handlers)) app.all(path.pattern, (context) => edge(context, path))
  }
  const gateway = createEdge(options, gatewayDialect)
  serve(gateway, daemonRoutes, gatewayHandlers(deps))
  serve(gateway, consoleRoutes, consoleHandlers(deps))
  serve(gateway, visitRoutes, createVisitHandlers(deps))
  const files = lazy(async () => (await import('./console/files.js')).createConsoleFiles())
  app.all('/chat/:app', createChatPageHandler(options, files))
  const page = createConsolePageHandler(options, files)
  for (const pattern of [CONSOLE_PATH, `${CONSOLE_PATH}/*`]) app.all(pattern, page)
  const chat = createEdge(options, chatDialect)
  serve(chat, [...chatRoutes, ...welcomeRoutes], { ...createChatHandlers(deps.engine), ...welcomeHandlers })
  serveMcp(app, options)
  app.all('/v1/*', (context) => chat(context, undefined))
  app.notFound((context) => gateway(context, undefined))
  return app
}

/**
 * The path for routing. A base address with a trailing slash turns `/chat-messages` into `/v1//chat-messages`, so
 * repeated slashes below `/v1` count as one.
 */
function getRoutedPath(request: Request): string {
  const path = getPath(request)
  return /^\/+v1\//.test(path) ? path.replace(/\/{2,}/g, '/') : path
}
