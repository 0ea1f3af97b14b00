import type { CatResult } from '../../contract/gateway/fs.js'
import type {
  CreateSnapshotBody,
  ListSnapshotsQuery,
  SnapshotFileQuery,
  SnapshotReplay,
  WorkspaceSnapshot,
  WorkspaceSnapshotDetail,
} from '../../contract/gateway/snapshots.js'
import type { Caller } from '../base/caller.js'
import type { Page } from '../base/page.js'
import type { EngineContext } from '../context.js'
import type { QueryGate } from '../query/gate.js'
import type { QueryShared } from '../query/stages.js'
import { replaySnapshot } from './replay.js'
import { createSnapshot, deleteSnapshot, listSnapshots, readSnapshotDetail, readSnapshotFile } from './snapshots.js'

/** Snapshots of agents' workspaces. Each belongs to its creator; other callers get `not-found`. */
export interface SnapshotOperations {
  create(caller: Caller, body: CreateSnapshotBody): Promise<WorkspaceSnapshot>
  list(caller: Caller, query: ListSnapshotsQuery): Promise<Page<WorkspaceSnapshot>>
  get(caller: Caller, id: string): Promise<WorkspaceSnapshotDetail>
  file(caller: Caller, id: string, query: SnapshotFileQuery): Promise<CatResult>
  delete(caller: Caller, id: string): Promise<void>
  replay(caller: Caller, id: string, from: number): Promise<SnapshotReplay>
}

export function createSnapshots(context: EngineContext, shared: QueryShared & { gate: QueryGate }): SnapshotOperations {
  const { db } = context
  return {
    create: (caller, body) => createSnapshot(context, caller, body),
    list: (caller, query) => db.read(listSnapshots(caller, query)),
    get: (caller, id) => db.read(readSnapshotDetail(caller, id)),
    file: (caller, id, query) => readSnapshotFile(context, caller, id, query),
    delete: (caller, id) => deleteSnapshot(context, caller, id),
    replay: (caller, id, from) => replaySnapshot(context, shared, caller, id, from),
  }
}
