import { Hono } from 'hono'
import { gatewayRoutes } from '../contract/gateway/routes.js'
import { gatewayHandlers } from './gateway/handlers.js'
import { createEdge, type EdgeBindings, type EdgeOptions } from './handle.js'
import { compileRoutes } from './routing.js'

export type DaemonApp = Hono<{ Bindings: EdgeBindings }>

/** The application: Hono finds the path, everything else is the edge's work. */
export function createApp(options: EdgeOptions): DaemonApp {
  const edge = createEdge(options)
  const app: DaemonApp = new Hono<{ Bindings: EdgeBindings }>()
  for (const path of compileRoutes(gatewayRoutes, gatewayHandlers(options.deps)))
    app.all(path.pattern, (context) => edge(context, path))
  app.notFound((context) => edge(context, undefined))
  return app
}
