import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { queryInt, uuid } from '../primitives.js'
import { route } from '../route.js'

/** Frames of the changes of a tenant's spaces. */
export const changeEvents = {
  /** From here on, every change is reported. */
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
      'Stream changes of the spaces of the tenant for `seconds`, then end: publications and deletions of documents, and changes of workspace files. Simultaneous changes of a space are reported once.',
    query: z.strictObject({ seconds: queryInt(LIMITS.changesSeconds) }),
    ok: { 200: 'event-stream' },
    events: changeEvents,
    errors: [400],
    extension: true,
  }),
] as const
