import { useSyncExternalStore } from 'react'
import { messageOf } from '../../../api/client.js'
import { createListeners } from '../../../api/listeners.js'
import { session } from '../../../api/session.js'
import { findExistingDocument } from './existing-document.js'
import type { FileSelection } from './file-selection.js'
import { followJob } from './follow-job.js'
import { sendFile } from './send.js'

/** A file being uploaded to a space, and its outcome. */
export interface QueuedUpload {
  id: number
  spaceId: string
  /** file name, with the path inside a dropped folder */
  name: string
  sizeBytes: number
  /** `existing`: the space already has the file, so it was not sent */
  state: 'waiting' | 'sending' | 'reading' | 'done' | 'existing' | 'failed'
  /** fraction of the bytes that are sent */
  sentFraction: number
  /** why the upload failed */
  reason: string | undefined
  documentId: string | undefined
}

/** Concurrent uploads; the daemon's disk is the bottleneck. */
const MAX_CONCURRENT_UPLOADS = 3

/** files of the uploads that can still be sent, by id of the upload */
const files = new Map<number, File>()
const listeners = createListeners()
let uploads: readonly QueuedUpload[] = []
let nextId = 1
let sendingCount = 0

session.subscribe(() => {
  if (session.isOpen()) return
  files.clear()
  setUploads([])
})

export function useUploads(spaceId: string): readonly QueuedUpload[] {
  const current = useSyncExternalStore(listeners.subscribe, () => uploads)
  return current.filter((upload) => upload.spaceId === spaceId)
}

/** Queues files for a space; uploads continue while other pages are open. */
export function addFiles(spaceId: string, selected: FileSelection['files']): void {
  const added = selected.map(({ name, file }): QueuedUpload => {
    const id = nextId++
    files.set(id, file)
    return {
      id,
      spaceId,
      name,
      sizeBytes: file.size,
      state: 'waiting',
      sentFraction: 0,
      reason: undefined,
      documentId: undefined,
    }
  })
  setUploads([...uploads, ...added])
  startNext()
}

/** Retries the failed uploads of a space. */
export function retryFailed(spaceId: string): void {
  setUploads(
    uploads.map((upload) =>
      upload.spaceId === spaceId && upload.state === 'failed' && files.has(upload.id)
        ? { ...upload, state: 'waiting', reason: undefined, sentFraction: 0 }
        : upload,
    ),
  )
  startNext()
}

export function hasEnded({ state }: QueuedUpload): boolean {
  return state === 'done' || state === 'existing' || state === 'failed'
}

/** Removes finished uploads of a space from the list. */
export function clearEnded(spaceId: string): void {
  const isRemoved = (upload: QueuedUpload) => upload.spaceId === spaceId && hasEnded(upload)
  for (const upload of uploads) if (isRemoved(upload)) files.delete(upload.id)
  setUploads(uploads.filter((upload) => !isRemoved(upload)))
}

function startNext(): void {
  while (sendingCount < MAX_CONCURRENT_UPLOADS) {
    const upload = uploads.find(({ state }) => state === 'waiting')
    if (upload === undefined) return
    sendingCount++
    void uploadFile(upload).finally(() => {
      sendingCount--
      startNext()
    })
  }
}

async function uploadFile({ id, spaceId, name }: QueuedUpload): Promise<void> {
  const file = files.get(id)
  if (file === undefined) return
  update(id, { state: 'sending' })
  try {
    const existingId = await findExistingDocument(spaceId, name, file)
    if (existingId !== undefined) {
      update(id, { documentId: existingId, sentFraction: 1, state: 'existing' })
      return void files.delete(id)
    }
    const onProgress = (sentFraction: number) => update(id, { sentFraction })
    const { documentId, jobId } = await sendFile(spaceId, name, file, onProgress)
    update(id, { documentId, sentFraction: 1, state: jobId === undefined ? 'done' : 'reading' })
    if (jobId === undefined) return void files.delete(id)
    // the next file is sent while the daemon reads this one
    followJob(spaceId, jobId, (reason) => {
      update(id, reason === undefined ? { state: 'done' } : { state: 'failed', reason })
      if (reason === undefined) files.delete(id)
    })
  } catch (error) {
    update(id, { state: 'failed', reason: messageOf(error) })
  }
}

function update(id: number, changes: Partial<QueuedUpload>): void {
  setUploads(uploads.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)))
}

function setUploads(value: readonly QueuedUpload[]): void {
  uploads = value
  listeners.notify()
}
