/**
 * The reading process: receives batches of files from its parent, reads them one by one and sends back plain data.
 *
 * It opens only files of this program and language data: the parent sends the bytes of each document. Node's permission
 * model denies other files, writing, processes, threads and native add-ons (see child-handle.ts). The network is
 * disabled before any parser is loaded.
 *
 * Faults for tests: with `KS_FAULT=parse` in the environment, a file whose name contains `ks-fault-crash`,
 * `ks-fault-hang` or `ks-fault-memory` makes the process abort, loop or grow; `ks-fault-work-3000` works for 3 s of
 * processor time over seven pages, `ks-fault-wait-3000` waits for 3 s, `ks-fault-late` grows unless it is the first
 * file of the process. Without the variable the names mean nothing.
 */
import '../../lib/no-debugger.js'
import type { CompileResult } from '../store/compiled.js'
import { countCharacters, takeParts } from './document-parts.js'
import { fetchFile } from './fetch-file.js'
import type { FileChunkReply } from './file-feed.js'
import type { FileSink } from './inside/contained-files.js'
import type { ChildReport, ReadBatch, ReadRequest, TakenMessage } from './messages.js'
import { disableNetwork } from './no-network.js'

disableNetwork()
const { readDocument } = await import('./read-document.js')
const { setProgressListener, reportProgress } = await import('./progress.js')

/** Results wait this long, or until there are many characters, so that small files share messages. */
const FLUSH_INTERVAL_MS = 20
const MAX_PENDING_CHARACTERS = 2_000_000
/** Bytes of a contained file in one message. */
const CHUNK_BYTES = 1024 * 1024

let filesRead = 0
const faultsEnabled = process.env.KS_FAULT === 'parse'

/** Called when the parent has taken the last bytes of a contained file. */
let onTaken: (() => void) | undefined

process.on('message', (message: ReadBatch | TakenMessage | FileChunkReply) => {
  if ('kind' in message) return message.kind === 'taken' ? onTaken?.() : undefined
  run(message).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit(0))
// Libraries leave rejected promises that nothing awaits (pdf.js: for objects that are not what the file states).
// Awaited rejections fail the file that is read; other files are not affected.
process.on('unhandledRejection', (reason) =>
  process.stderr.write(`unhandled rejection: ${String(reason).slice(0, 500)}\n`),
)
await send({ kind: 'ready' })

async function run(batch: ReadBatch): Promise<void> {
  await send({ kind: 'started' })
  let pendingResults: CompileResult[] = []
  let firstPending = 0
  let pendingCharacters = 0
  let lastFlushMs = performance.now()
  for (const [index, request] of batch.requests.entries()) {
    if (
      pendingResults.length > 0 &&
      (pendingCharacters > MAX_PENDING_CHARACTERS || performance.now() - lastFlushMs > FLUSH_INTERVAL_MS)
    ) {
      await send({ kind: 'results', start: firstPending, results: pendingResults })
      pendingResults = []
      firstPending = index
      pendingCharacters = 0
      lastFlushMs = performance.now()
    }
    setProgressListener((progress) => process.send?.({ kind: 'progress', index, progress, processorMs: processorMs() }))
    if (faultsEnabled) injectFault(request)
    filesRead++
    const result = await readDocument(() => fetchFile(index), request, batch.limits, createFileSink(index))
    if (result.ok) {
      for (const part of takeParts(result.document)) await send({ kind: 'part', index, part })
      pendingCharacters += countCharacters(result.document.nodes)
    }
    pendingResults.push(result)
  }
  await send({ kind: 'results', start: firstPending, results: pendingResults })
  pendingResults = []
  await send({ kind: 'done', rss: process.memoryUsage.rss() })
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Sends contained files to the parent. At most one message waits until the parent has taken it. */
function createFileSink(index: number): FileSink {
  const sendAndWait = (report: ChildReport) =>
    new Promise<void>((resolve, reject) => {
      onTaken = resolve
      send(report).catch(reject)
    })
  return {
    async write(bytes) {
      for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES)
        await sendAndWait({ kind: 'contained', index, bytes: bytes.subarray(offset, offset + CHUNK_BYTES) })
    },
    end: (kept) => sendAndWait({ kind: 'contained-end', index, kept }),
  }
}

/** Resolves once the message has been handed to the pipe, so that a later crash cannot lose it. */
function send(report: ChildReport): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(report, (error: Error | null) => (error === null ? resolve() : reject(error)))
  })
}

function injectFault({ filename }: ReadRequest): void {
  const isLate = filename.includes('ks-fault-late') && filesRead > 0
  if (filename.includes('ks-fault-crash')) process.abort()
  if (filename.includes('ks-fault-hang')) for (;;);
  if (filename.includes('ks-fault-memory') || isLate) {
    const buffers: Buffer[] = []
    for (;;) buffers.push(Buffer.alloc(16 * 1024 * 1024, buffers.length + 1))
  }
  const workMs = Number(/ks-fault-work-(\d+)/.exec(filename)?.[1] ?? 0)
  const startMs = processorMs()
  for (let page = 1; page <= 7 && workMs > 0; page++) {
    reportProgress('page', page, 7)
    while (processorMs() - startMs < (workMs / 7) * page);
  }
  const waitMs = Number(/ks-fault-wait-(\d+)/.exec(filename)?.[1] ?? 0)
  if (waitMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
}
