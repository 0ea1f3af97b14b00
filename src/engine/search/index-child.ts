import { isStorageFull } from '../../local/disk-error.js'
import '../../lib/no-debugger.js'
import { checkRequest } from './check-request.js'
import type { GraphLimits } from './graph-keeper.js'
import { chooseTextEngine } from './open-text.js'
import type { IndexChildMessage, IndexChildRequest, IndexErrorReason, IndexRequest } from './protocol.js'
import { SpaceClosedError, SpacePool } from './space-pool.js'
import { currentWriteMs } from './text-thread.js'

/**
 * Entry of the index process. It keeps the native libraries, which can block for seconds or crash, away from the
 * daemon. It never opens the database; everything it needs arrives in messages.
 *
 * Test-only fault: with `KS_FAULT=index` in its environment, a passage with the word `ks-fault-crash` aborts the
 * process. Without it the word has no effect.
 */

interface IndexChildSettings {
  dir: string
  graph: Partial<GraphLimits>
  maxOpen?: number
  watermarkLagMs: number
}

const settings: IndexChildSettings = JSON.parse(process.argv[2] ?? '{}')
const { engine, reason } = chooseTextEngine(process.env.KS_TEXT_INDEX)

const faultsOn = process.env.KS_FAULT === 'index'

const send = (message: IndexChildMessage): void => {
  if (process.connected) process.send?.(message)
}
const log = (message: string): void => send({ kind: 'log', message })

const pool = new SpacePool({
  ...settings,
  engine,
  log,
  onClosed: (space) => send({ kind: 'closed', space }),
  onBuild: (space, running) => send({ kind: 'building', space, running }),
})

/** Searches overtake changes, and each request gets its own turn of the event loop. */
const searches: IndexChildRequest[] = []
const changes: IndexChildRequest[] = []
/** Searches answered in a row before one change. */
const SEARCHES_PER_TURN = 16
let scheduled = false

function schedule(): void {
  if (scheduled) return
  scheduled = true
  setImmediate(processQueues)
}

function processQueues(): void {
  scheduled = false
  for (const message of searches.splice(0, SEARCHES_PER_TURN)) answerRequest(message)
  const change = changes.shift()
  if (change !== undefined) answerRequest(change)
  if (searches.length + changes.length > 0) schedule()
}

function answerRequest({ id, request }: IndexChildRequest): void {
  Promise.resolve()
    .then(() => {
      checkRequest(request)
      return handle(request)
    })
    .then(
      (value) => send({ kind: 'reply', id, value }),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        send({ kind: 'error', id, reason: toErrorReason(error), message })
      },
    )
}

function toErrorReason(error: unknown): IndexErrorReason {
  if (error instanceof SpaceClosedError) return 'closed'
  if (isStorageFull(error)) return 'full'
  return error instanceof RangeError ? 'invalid' : 'failed'
}

function handle(request: IndexRequest): unknown {
  switch (request.op) {
    case 'search':
      return pool.read(request.space, (index) => index.search(request))
    case 'status':
      return pool.read(request.space, (index) => index.status())
    case 'open':
      return pool.open(request.space, async (index) => {
        if (request.discard) await index.discard()
        return index.state()
      })
    case 'reset':
      return pool.change(request.space, (index) => index.reset())
    case 'stage':
      if (faultsOn && request.bodies.some((body) => body.includes('ks-fault-crash'))) process.abort()
      return pool.change(request.space, (index) => index.stage(request))
    case 'commit':
      return pool.change(request.space, (index) => index.commit(request.watermark, request.staged))
    case 'load':
      return pool.change(request.space, (index) => index.load(request))
    case 'vectors':
      return pool.change(request.space, (index) => index.putVectors(request))
    case 'confirm':
      return pool.change(request.space, (index) => index.confirm(request))
    case 'activate':
      return pool.change(request.space, (index) => index.activate(request.vectorSpace))
    case 'count':
      return pool.change(request.space, (index) => index.counts(request.vectorSpace))
    case 'drop':
      return pool.drop(request.space)
    case 'close':
      return pool.close()
  }
}

process.on('message', (message: IndexChildRequest) => {
  if (message.request.op === 'search') searches.push(message)
  else changes.push(message)
  schedule()
})
// The daemon has ended: this process is not needed, and the next one replays what is not committed. `exit` would wait
// for a thread in native code, hence the signal.
process.on('disconnect', () => (currentWriteMs() > 0 ? process.kill(process.pid, 'SIGKILL') : process.exit(0)))
// Ctrl-C in a terminal reaches the complete process group; the daemon decides when this process ends.
process.on('SIGINT', () => {})

/** Writing that takes longer is reported, so that the daemon notices a thread that hangs. */
const WRITING_REPORT_MS = 1_000
setInterval(() => {
  const forMs = currentWriteMs()
  if (forMs > WRITING_REPORT_MS) send({ kind: 'writing', forMs })
}, WRITING_REPORT_MS).unref()

if (reason !== '') log(`text search uses FTS5: ${reason}`)
