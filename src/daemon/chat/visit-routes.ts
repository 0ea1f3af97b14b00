import { z } from 'zod'
import { uuid } from '../../contract/primitives.js'
import { route } from '../../contract/route.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

const NewVisit = z.strictObject({ token: z.string(), user: z.string(), expiresInSeconds: z.int().min(1) })

/**
 * Routes by which pages reach the chat service without an application key: a visit replaces it. Internal to this
 * program, so not part of the API.
 */
export const visitRoutes = [
  route({
    id: 'beginChatVisit',
    method: 'POST',
    path: '/chat/{appId}/visits',
    scope: 'public',
    summary: 'Start or continue a visit of the page of an application.',
    params: z.strictObject({ appId: uuid }),
    body: z.strictObject({ before: z.string().max(4000).optional() }),
    ok: { 201: NewVisit },
    shownOnce: ['token'],
    errors: [400, 404, 429],
  }),
  route({
    id: 'tryChatApp',
    method: 'POST',
    path: '/daemon/console/chats/{appId}',
    scope: 'write',
    summary: 'Start a visit of an application as its owner.',
    params: z.strictObject({ appId: uuid }),
    ok: { 201: NewVisit },
    shownOnce: ['token'],
    errors: [404],
  }),
  route({
    id: 'describeChatPage',
    method: 'GET',
    path: '/daemon/console/chats/{appId}/page',
    scope: 'read',
    summary: 'Get whether an application has a page for visitors, and which sites may show it in a frame.',
    params: z.strictObject({ appId: uuid }),
    ok: { 200: z.strictObject({ isOn: z.boolean(), frames: z.array(z.string()) }) },
    errors: [404],
  }),
] as const

export function createVisitHandlers({ engine, visits }: HandlerDeps) {
  return {
    beginChatVisit: ({ params, body, address }) => visits.beginForVisitor(params.appId, body.before, address),
    tryChatApp: async ({ caller, params }) => {
      // The application is visible to its owner only.
      await engine.chat.apps.get(caller, params.appId)
      return await visits.beginForOwner(caller, params.appId)
    },
    describeChatPage: async ({ caller, params }) => {
      await engine.chat.apps.get(caller, params.appId)
      const frames = visits.getFrames(params.appId)
      return { isOn: frames !== undefined, frames: [...(frames ?? [])] }
    },
  } satisfies RouteHandlers<typeof visitRoutes>
}
