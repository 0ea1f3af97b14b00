import { z } from 'zod'
import { uuid } from '../primitives.js'
import { route } from '../route.js'

/** Frames of the changes of a tenant's spaces. The stream goes on until the client leaves or the daemon stops. */
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
      'Follow which spaces change: their documents by a publication or deletion, and the files of their workspaces. Several changes of a space that come together are told once.',
    ok: { 200: 'event-stream' },
    events: changeEvents,
    errors: [],
    extension: true,
  }),
] as const
