import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { queryInt, uuid } from '../primitives.js'
import { route } from '../route.js'

/** Frames of the changes of a tenant's spaces. */
export const changeEvents = {
  /** from here on every change is told */
  'changes.open': z.strictObject({}),
  'space.changed': z.strictObject({ knowledgeSpaceId: uuid }),
}

export const changesRoutes = [
  route({
    id: 'streamChanges',
    method: 'GET',
    path: '/changes',
    scope: 'read',
    summary:
      'Follow which spaces change, for `seconds`: their documents by a publication or deletion, and the files of their workspaces. Several changes of a space that come together are told once.',
    query: z.strictObject({ seconds: queryInt(LIMITS.changesSeconds) }),
    ok: { 200: 'event-stream' },
    events: changeEvents,
    errors: [400],
    extension: true,
  }),
] as const
