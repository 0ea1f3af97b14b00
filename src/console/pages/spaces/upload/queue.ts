import { useSyncExternalStore } from 'react'
import { session } from '../../../api/session.js'
import { followJob } from './follow.js'
import { heldAlready } from './held.js'
import { sendFile } from './send.js'

/** A file on its way into a space, and what became of it. */
export interface Upload {
  id: number
  spaceId: string
  /** with the folders it was dropped in */
  name: string
  size: number
  /** held: the space has it already, so it was not sent */
  state: 'waiting' | 'sending' | 'reading' | 'done' | 'held' | 'failed'
  /** share of the bytes that are sent */
  sent: number
  reason: string | undefined
  documentId: string | undefined
}

/** files that are sent at once: the daemon's disk is the narrow place */
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

/** Takes files for a space; they go on while other pages are looked at. */
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

/** Tries again what failed. */
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

/** Takes what has ended off the list. */
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
    // the next file is sent while this one is read
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
