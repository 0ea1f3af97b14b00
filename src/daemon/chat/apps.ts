import type { chatAppRoutes } from '../../contract/chat/apps.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function chatAppHandlers({ engine: { chat } }: HandlerDeps) {
  const { apps } = chat
  return {
    createChatApp: ({ caller, body }) => apps.create(caller, body),
    listChatApps: ({ caller }) => apps.list(caller),
    getChatApp: ({ caller, params }) => apps.get(caller, params.appId),
    updateChatApp: ({ caller, params, body }) => apps.update(caller, params.appId, body),
    deleteChatApp: async ({ caller, params }) => {
      await apps.delete(caller, params.appId)
      return undefined
    },
    createChatAppKey: ({ caller, params }) => apps.createKey(caller, params.appId),
    listChatAppKeys: ({ caller, params }) => apps.listKeys(caller, params.appId),
    revokeChatAppKey: async ({ caller, params }) => {
      await apps.revokeKey(caller, params.appId, params.keyId)
      return undefined
    },
  } satisfies RouteHandlers<typeof chatAppRoutes>
}
