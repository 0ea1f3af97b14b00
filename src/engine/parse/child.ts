/**
 * The reading process: takes batches of files from its parent, reads them one by one, sends back plain data.
 *
 * It runs with read access to files and nothing else: Node's permission model takes away writing, processes, threads
 * and native add-ons (see child-handle.ts), and the network is switched off before any parser is loaded.
 *
 * Test-only faults: with `KS_FAULT=parse` in its environment, a file whose name contains `ks-fault-crash`,
 * `ks-fault-hang` or `ks-fault-memory` makes the process abort, loop or grow. Without it the names mean nothing.
 */
import '../../lib/no-debugger.js'
import type { CompileRequest, CompileResult } from './compiled.js'
import { charactersOf, partsOf } from './document-parts.js'
import type { FileSink } from './inside/inside.js'
import type { Batch, Report, Taken } from './messages.js'
import { switchOffNetwork } from './no-network.js'

switchOffNetwork()
const { readDocument } = await import('./read-document.js')

/** Results wait this long (or until there are many) for company, so that small files share messages. */
const FLUSH_MS = 20
const FLUSH_CHARACTERS = 2_000_000
/** Of a file within a file, so many bytes are sent at a time. */
const PIECE_BYTES = 1024 * 1024

const faultsOn = process.env.KS_FAULT === 'parse'

/** Called when the parent has taken what was sent last of a file within a file. */
let taken: (() => void) | undefined

process.on('message', (message: Batch | Taken) => {
  if ('kind' in message) return taken?.()
  run(message).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit(0))
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
    if (faultsOn) fault(request)
    const result = await readDocument(request, batch.limits, sinkOf(index))
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

/** Hands on the files that lie in one of the batch; no more waits than what the parent has not taken yet. */
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

/** Resolves once the message is handed to the pipe, so that a later crash cannot lose it. */
function send(report: Report): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(report, (error: Error | null) => (error === null ? resolve() : reject(error)))
  })
}

function fault(request: CompileRequest): void {
  if (request.filename.includes('ks-fault-crash')) process.abort()
  if (request.filename.includes('ks-fault-hang')) for (;;);
  if (request.filename.includes('ks-fault-memory')) {
    const held: Buffer[] = []
    for (;;) held.push(Buffer.alloc(16 * 1024 * 1024, held.length + 1))
  }
}
