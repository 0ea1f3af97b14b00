import type { snapshotsRoutes } from '../../contract/gateway/snapshots.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function snapshotsHandlers({ engine: { snapshots } }: HandlerDeps) {
  return {
    createWorkspaceSnapshot: ({ caller, body }) => snapshots.create(caller, body),
    listWorkspaceSnapshots: ({ caller, query }) => snapshots.list(caller, query),
    getWorkspaceSnapshot: ({ caller, params }) => snapshots.get(caller, params.snapshotId),
    deleteWorkspaceSnapshot: async ({ caller, params }) => {
      await snapshots.delete(caller, params.snapshotId)
      return undefined
    },
    readWorkspaceSnapshotFile: ({ caller, params, query }) => snapshots.file(caller, params.snapshotId, query),
    replayWorkspaceSnapshot: ({ caller, params, query }) => snapshots.replay(caller, params.snapshotId, query.from),
  } satisfies RouteHandlers<typeof snapshotsRoutes>
}
