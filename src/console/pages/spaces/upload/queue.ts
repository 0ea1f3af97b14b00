import { useSyncExternalStore } from 'react'
import { session } from '../../../api/session.js'
import { followJob } from './follow.js'
import { heldAlready } from './held.js'
import { sendFile } from './send.js'

/** A file being uploaded to a space, and its outcome. */
export interface Upload {
  id: number
  spaceId: string
  /** file name, with the path inside a dropped folder */
  name: string
  size: number
  /** `held`: the space already has the file, so it was not sent */
  state: 'waiting' | 'sending' | 'reading' | 'done' | 'held' | 'failed'
  /** fraction of the bytes that are sent */
  sent: number
  reason: string | undefined
  documentId: string | undefined
}

/** Concurrent uploads; the daemon's disk is the bottleneck. */
const AT_ONCE = 3

const files = new Map<number, File>()
const listeners = new Set<() => void>()
let uploads: readonly Upload[] = []
let nextId = 1
let sending = 0

session.subscribe(() => {
  if (session.isOpen()) return
  files.clear()
  change([])
})

export function useUploads(spaceId: string): readonly Upload[] {
  const all = useSyncExternalStore(subscribe, () => uploads)
  return all.filter((upload) => upload.spaceId === spaceId)
}

/** Queues files for a space; uploads continue while other pages are open. */
export function addFiles(spaceId: string, dropped: readonly { name: string; file: File }[]): void {
  const added = dropped.map(({ name, file }): Upload => {
    const id = nextId++
    files.set(id, file)
    return {
      id,
      spaceId,
      name,
      size: file.size,
      state: 'waiting',
      sent: 0,
      reason: undefined,
      documentId: undefined,
    }
  })
  change([...uploads, ...added])
  next()
}

/** Retries the failed uploads of a space. */
export function retryFailed(spaceId: string): void {
  change(
    uploads.map((upload) =>
      upload.spaceId === spaceId && upload.state === 'failed' && files.has(upload.id)
        ? { ...upload, state: 'waiting', reason: undefined, sent: 0 }
        : upload,
    ),
  )
  next()
}

export function hasEnded({ state }: Upload): boolean {
  return state === 'done' || state === 'held' || state === 'failed'
}

/** Removes finished uploads of a space from the list. */
export function clearEnded(spaceId: string): void {
  const goes = (upload: Upload) => upload.spaceId === spaceId && hasEnded(upload)
  for (const upload of uploads) if (goes(upload)) files.delete(upload.id)
  change(uploads.filter((upload) => !goes(upload)))
}

function next(): void {
  while (sending < AT_ONCE) {
    const waiting = uploads.find(({ state }) => state === 'waiting')
    if (waiting === undefined) return
    sending++
    void bring(waiting).finally(() => {
      sending--
      next()
    })
  }
}

async function bring({ id, spaceId, name }: Upload): Promise<void> {
  const file = files.get(id)
  if (file === undefined) return
  update(id, { state: 'sending' })
  try {
    const held = await heldAlready(spaceId, name, file)
    if (held !== undefined) {
      update(id, { documentId: held, sent: 1, state: 'held' })
      return void files.delete(id)
    }
    const { documentId, jobId } = await sendFile(spaceId, name, file, (sent) => update(id, { sent }))
    update(id, { documentId, sent: 1, state: jobId === undefined ? 'done' : 'reading' })
    if (jobId === undefined) return void files.delete(id)
    // the next file is sent while the daemon reads this one
    followJob(spaceId, jobId, (reason) => {
      update(id, reason === undefined ? { state: 'done' } : { state: 'failed', reason })
      if (reason === undefined) files.delete(id)
    })
  } catch (error) {
    update(id, { state: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}

function update(id: number, to: Partial<Upload>): void {
  change(uploads.map((upload) => (upload.id === id ? { ...upload, ...to } : upload)))
}

function change(to: readonly Upload[]): void {
  uploads = to
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
