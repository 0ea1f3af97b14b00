import { chatAppRoutes } from './chat/apps.js'
import { chatRoutes } from './chat/routes.js'
import { gatewayRoutes } from './gateway/routes.js'

/** Every operation of the daemon: the gateway, the management of chat applications, the chat service. */
export const allRoutes = [...gatewayRoutes, ...chatAppRoutes, ...chatRoutes] as const
