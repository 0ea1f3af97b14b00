import { z } from 'zod'
import { route } from '../../contract/route.js'
import type { ChatReply } from './handlers.js'

/** Reply to clients that check, without a key, whether the service exists; they only compare the version. */
const ServiceWelcome = z.strictObject({ welcome: z.string(), api_version: z.literal('v1'), server_version: z.string() })

export const welcomeRoutes = (['/v1', '/v1/'] as const).map((path) =>
  route({
    id: 'welcome',
    method: 'GET',
    path,
    scope: 'public',
    summary: 'Identify the chat service.',
    ok: { 200: ServiceWelcome },
    errors: [],
  }),
)

export const welcomeHandlers = {
  welcome: (): ChatReply => ({ json: { welcome: 'Dify OpenAPI', api_version: 'v1', server_version: '1.0.0' } }),
}
