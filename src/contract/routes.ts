import { chatAppRoutes } from './chat/apps.js'
import { chatRoutes } from './chat/routes.js'
import { gatewayRoutes } from './gateway/routes.js'

/** All operations of the daemon: gateway, management of chat applications, chat service. */
export const allRoutes = [...gatewayRoutes, ...chatAppRoutes, ...chatRoutes] as const
