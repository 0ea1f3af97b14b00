import { createHash } from 'node:crypto'
import { Register } from '../history.js'
import type { KeptSnapshot, SpaceModel } from '../model.js'
import {
  type Context,
  choose,
  diverge,
  expectRefusal,
  expectThere,
  type Operation,
  pick,
  pickSpace,
} from './context.js'

/** Collects garbage: a needed object that is missing afterwards shows in a read. */
const collect: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const path = { id: space.id }
  const found = await session.read(step, 'GET /knowledge-spaces/{id}/gc/staged-objects', { path, query: {} })
  if (found.kind === 'refused') return expectRefusal(context, space, found)
  const { candidates } = found.value
  if (candidates.length === 0) return
  const outcome = await session.write(step, 'POST /knowledge-spaces/{id}/gc/staged-objects/execute', {
    path,
    body: { candidates: candidates.slice(0, 20) },
  })
  if (outcome.kind === 'refused') expectRefusal(context, space, outcome)
}

/** Reads status and checks; a check during work must find nothing damaged. */
const inspect: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const path = { id: space.id }
  const leases = await session.read(step, 'GET /knowledge-spaces/{id}/leases/active', { path, query: { limit: 100 } })
  if (leases.kind === 'refused') return expectRefusal(context, space, leases)
  const commits = await session.read(step, 'GET /knowledge-spaces/{id}/staged-commits', { path, query: { limit: 100 } })
  if (commits.kind === 'refused') return expectRefusal(context, space, commits)
  const check = await session.read(step, 'GET /knowledge-spaces/{id}/fsck', { path, query: { check: 'raw-objects' } })
  if (check.kind === 'refused') return expectRefusal(context, space, check)
  for (const { severity, type, message } of check.value.issues)
    if (severity === 'critical') diverge(context, 'no damage', `${type}: ${message}`)
}

/** Checks whether the space has a file before an upload. */
const askFor: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const document = choose([...space.documents.values()], pick(step, 2))
  if (document === undefined) return
  const { filename, sha256 } = document
  const lives = [...document.lives]
  const answer = await session.read(step, 'POST /knowledge-spaces/{id}/documents/check', {
    path: { id: space.id },
    body: { items: [{ filename, sha256 }] },
  })
  if (answer.kind === 'refused') return expectRefusal(context, space, answer)
  const [item] = answer.value.items
  const mustBeThere = lives.some(([, life]) => !life.possible(answer).includes(false))
  if (mustBeThere && item?.status === 'new') diverge(context, `${filename} to be held`, 'it is new')
  const life = document.lives.get(item?.documentId ?? '')
  if (life !== undefined && !life.allows(true, answer)) diverge(context, `${filename} to be deleted`, 'it is held')
}

/** Creates a snapshot of the client's workspace, which only this client changes. */
const freeze: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const workspace = `agent-${session.place}`
  const now = { from: session.world.moments.next(), to: session.world.moments.next() }
  const own = [...space.files].filter(([path]) => path.startsWith(`/workspaces/${workspace}/`))
  const files = new Map(own.map(([path, file]) => [path.split('/').at(-1) ?? '', file.possible(now)]))
  const outcome = await session.write(step, 'POST /agent-workspace-snapshots', {
    body: { knowledgeSpaceId: space.id, workspace, name: `${session.tenant.marker} ${step.number}` },
  })
  if (outcome.kind === 'lost') return
  if (outcome.kind === 'refused') {
    const mayBeEmpty = [...files.values()].every((possible) => possible.includes(undefined))
    return expectRefusal(context, space, outcome, mayBeEmpty ? [404] : [])
  }
  const snapshot: KeptSnapshot = { id: outcome.value.id, files: new Map(), isThere: new Register(true) }
  for (const [name, possible] of files) snapshot.files.set(name, possible)
  space.snapshots.push(snapshot)
}

const readSnapshot: Operation = async (context) => {
  const space = pickSpace(context)
  const snapshot = choose(space.snapshots, pick(context.step, 2))
  if (snapshot !== undefined) await checkSnapshot(context, space, snapshot)
}

/** A snapshot contains the files of its workspace at that time, whatever happened later. */
export async function checkSnapshot(context: Context, space: SpaceModel, snapshot: KeptSnapshot): Promise<void> {
  const { session, step } = context
  const path = { snapshotId: snapshot.id }
  const answer = await session.read(step, 'GET /agent-workspace-snapshots/{snapshotId}', { path })
  const isThere = answer.kind === 'done'
  if (!isThere && (answer.status !== 404 || space.mayBeGone(answer))) return expectRefusal(context, space, answer)
  expectThere(context, `the snapshot ${snapshot.id}`, snapshot.isThere.possible(answer), isThere, answer)
  if (!isThere) return
  const frozen = new Map(answer.value.files.map((file) => [file.path.split('/').at(-1) ?? '', file.sha256]))
  for (const [name, possible] of snapshot.files) {
    const hashes = possible.map((content) => (content === undefined ? undefined : hashOf(content)))
    if (!hashes.includes(frozen.get(name)))
      diverge(context, `${name} frozen as ${hashes.join(' or ')}`, String(frozen.get(name)))
  }
  for (const name of frozen.keys()) if (!snapshot.files.has(name)) diverge(context, 'only files of the workspace', name)
}

const removeSnapshot: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const snapshot = choose(space.snapshots, pick(step, 2))
  if (snapshot === undefined) return
  const begun = snapshot.isThere.begin(false, session.world.moments.next())
  const outcome = await session.write(step, 'DELETE /agent-workspace-snapshots/{snapshotId}', {
    path: { snapshotId: snapshot.id },
  })
  if (outcome.kind === 'lost') return snapshot.isThere.lost(begun, outcome.to)
  if (outcome.kind === 'done' || outcome.status === 404) return snapshot.isThere.done(begun, outcome.to)
  snapshot.isThere.refused(begun)
  expectRefusal(context, space, outcome)
}

const replay: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const snapshot = choose(space.snapshots, pick(step, 2))
  if (snapshot === undefined) return
  const path = { snapshotId: snapshot.id }
  const answer = await session.read(step, 'POST /agent-workspace-snapshots/{snapshotId}/replay', { path, query: {} })
  if (answer.kind === 'refused')
    expectRefusal(context, space, answer, snapshot.isThere.allows(false, answer) ? [404] : [])
}

function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

export const upkeepOperations = { collect, inspect, askFor, freeze, readSnapshot, removeSnapshot, replay }
