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
import type { CompileResult } from './compiled.js'
import { charactersOf, partsOf } from './document-parts.js'
import { fetchFile } from './fetch-file.js'
import type { FileAnswer } from './file-feed.js'
import type { FileSink } from './inside/inside.js'
import type { Batch, ReadRequest, Report, Taken } from './messages.js'
import { switchOffNetwork } from './no-network.js'

switchOffNetwork()
const { readDocument } = await import('./read-document.js')
const { hearProgress, tellProgress } = await import('./progress.js')

/** Results wait this long, or until there are many characters, so that small files share messages. */
const FLUSH_MS = 20
const FLUSH_CHARACTERS = 2_000_000
/** Bytes of a contained file in one message. */
const PIECE_BYTES = 1024 * 1024

let filesBefore = 0
const faultsOn = process.env.KS_FAULT === 'parse'

/** Called when the parent has taken the last bytes of a contained file. */
let taken: (() => void) | undefined

process.on('message', (message: Batch | Taken | FileAnswer) => {
  if ('kind' in message) return message.kind === 'taken' ? taken?.() : undefined
  run(message).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit(0))
// Libraries leave rejected promises that nothing awaits (pdf.js: for objects that are not what the file states).
// Awaited rejections fail the file that is read; other files are not affected.
process.on('unhandledRejection', (reason) => process.stderr.write(`unhandled rejection: ${String(reason).slice(0, 500)}\n`))
await send({ kind: 'ready' })

async function run(batch: Batch): Promise<void> {
  await send({ kind: 'started' })
  let waiting: CompileResult[] = []
  let start = 0
  let characters = 0
  let last = performance.now()
  for (const [index, request] of batch.requests.entries()) {
    if (waiting.length > 0 && (characters > FLUSH_CHARACTERS || performance.now() - last > FLUSH_MS)) {
      await send({ kind: 'results', start, results: waiting })
      waiting = []
      start = index
      characters = 0
      last = performance.now()
    }
    hearProgress((progress) => process.send?.({ kind: 'progress', index, progress, processorMs: processorMs() }))
    if (faultsOn) fault(request)
    filesBefore++
    const result = await readDocument(() => fetchFile(index), request, batch.limits, sinkOf(index))
    if (result.ok) {
      for (const part of partsOf(result.document)) await send({ kind: 'part', index, part })
      characters += charactersOf(result.document.nodes)
    }
    waiting.push(result)
  }
  await send({ kind: 'results', start, results: waiting })
  waiting = []
  await send({ kind: 'done', rss: process.memoryUsage.rss() })
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Sends contained files to the parent. At most one message waits until the parent has taken it. */
function sinkOf(index: number): FileSink {
  const sent = (report: Report) =>
    new Promise<void>((resolve, reject) => {
      taken = resolve
      send(report).catch(reject)
    })
  return {
    async piece(bytes) {
      for (let from = 0; from < bytes.length; from += PIECE_BYTES)
        await sent({ kind: 'contained', index, bytes: bytes.subarray(from, from + PIECE_BYTES) })
    },
    end: (kept) => sent({ kind: 'contained-end', index, kept }),
  }
}

/** Resolves once the message has been handed to the pipe, so that a later crash cannot lose it. */
function send(report: Report): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(report, (error: Error | null) => (error === null ? resolve() : reject(error)))
  })
}

function fault({ filename }: ReadRequest): void {
  const isLate = filename.includes('ks-fault-late') && filesBefore > 0
  if (filename.includes('ks-fault-crash')) process.abort()
  if (filename.includes('ks-fault-hang')) for (;;);
  if (filename.includes('ks-fault-memory') || isLate) {
    const held: Buffer[] = []
    for (;;) held.push(Buffer.alloc(16 * 1024 * 1024, held.length + 1))
  }
  const work = Number(/ks-fault-work-(\d+)/.exec(filename)?.[1] ?? 0)
  const begun = processorMs()
  for (let page = 1; page <= 7 && work > 0; page++) {
    tellProgress('page', page, 7)
    while (processorMs() - begun < (work / 7) * page);
  }
  const wait = Number(/ks-fault-wait-(\d+)/.exec(filename)?.[1] ?? 0)
  if (wait > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait)
}
