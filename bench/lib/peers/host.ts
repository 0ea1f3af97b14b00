/** A peer engine in a separate process, which times its own calls, like an embedded engine. `fork`ed by `startPeer`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forkModule, stopChild, waitForMessage } from '../forked.js'
import { readMemory } from '../process-memory.js'
import type { TimedSide } from '../turns.js'
import { measureRecall } from './engine.js'
import { fill, openEngine } from './open.js'
import type { BenchDocument, BenchQuery, Workload } from './workload.js'

export interface FillFigures {
  /** from the first document until all are searchable and no index work is left */
  seconds: number
  /** peak memory of the process, without the workload */
  peakBytes: number
  /** of its vector search, at 10 */
  recall: number
}

export interface Peer extends FillFigures {
  /** @param top number of hits, 10 by default */
  ask(indexes: number[], top?: number): ReturnType<TimedSide>
  stop(): Promise<void>
}

const RECALL_QUERIES = 50

/** Writes texts and vectors for the processes of the peers, which are not timed for creating them. */
export function writeWorkload(folder: string, { documents, queries }: Workload): void {
  const lines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  writeFileSync(join(folder, 'documents.jsonl'), lines(documents.map(({ title, text }) => ({ title, text }))))
  writeFileSync(join(folder, 'queries.jsonl'), lines(queries.map(({ text }) => ({ text }))))
  for (const [name, rows] of Object.entries({ documents, queries }))
    writeFileSync(join(folder, `${name}.f32`), Buffer.concat(rows.map(({ vector }) => toBytes(vector))))
}

function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

function readWorkload(folder: string): Workload & { dimension: number } {
  const documents = readRows<{ title: string; text: string }>(folder, 'documents')
  return {
    documents: documents.map((row, index): BenchDocument => ({ key: index + 1, ...row })),
    queries: readRows<{ text: string }>(folder, 'queries') satisfies BenchQuery[],
    dimension: documents[0]?.vector.length ?? 0,
  }
}

function readRows<Row>(folder: string, name: string): (Row & { vector: Float32Array })[] {
  const rows: Row[] = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { buffer, byteOffset, byteLength } = readFileSync(join(folder, `${name}.f32`))
  const numbers = new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength))
  const dimension = numbers.length / rows.length
  return rows.map((row, index) => ({ ...row, vector: numbers.subarray(index * dimension, (index + 1) * dimension) }))
}

/** Starts an engine and fills it with the workload of a folder. */
export async function startPeer(engine: string, folder: string, home: string): Promise<Peer> {
  const child = await forkModule(import.meta.url, ['peer', engine, folder, home], home)
  child.send('fill')
  const filled = (await waitForMessage(child)) as FillFigures
  return {
    ...filled,
    async ask(indexes, top) {
      child.send({ indexes, top })
      return (await waitForMessage(child)) as number[]
    },
    stop: () => stopChild(child),
  }
}

async function runPeer(name: string, folder: string, home: string): Promise<void> {
  const { documents, queries, dimension } = readWorkload(folder)
  const engineFolder = join(home, name)
  mkdirSync(engineFolder, { recursive: true })
  const engine = await openEngine(name, engineFolder, dimension)
  const fillAndMeasure = async (): Promise<FillFigures> => {
    // resets the peak, which includes reading the workload
    writeFileSync('/proc/self/clear_refs', '5')
    const before = readMemory(process.pid, 'VmRSS')
    const startedAt = performance.now()
    await fill(engine, documents)
    await engine.waitUntilSettled()
    const seconds = (performance.now() - startedAt) / 1000
    const peakBytes = readMemory(process.pid, 'VmHWM') - before
    const { recall } = await measureRecall(engine, documents, queries.slice(0, RECALL_QUERIES))
    return { seconds, peakBytes, recall }
  }
  const askAndMeasure = async (indexes: number[], top?: number): Promise<number[]> => {
    const ms: number[] = []
    for (const index of indexes) {
      const startedAt = performance.now()
      await engine.searchHybrid(queries[index]!, top)
      ms.push(performance.now() - startedAt)
    }
    return ms
  }
  process.on('message', async (message: 'fill' | { indexes: number[]; top?: number }) => {
    process.send?.(message === 'fill' ? await fillAndMeasure() : await askAndMeasure(message.indexes, message.top))
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.('ready')
}

if (process.argv[2] === 'peer') {
  const [name = '', folder = '', home = ''] = process.argv.slice(3)
  await runPeer(name, folder, home)
}
