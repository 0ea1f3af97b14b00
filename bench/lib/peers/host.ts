/**
 * One engine to compare with in a process of its own, which times its own calls: an engine in its application's process,
 * as such engines are used. `fork`ed by `startPeer`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerOf, startForked, stopForked } from '../forked.js'
import { memoryOf } from '../process-memory.js'
import type { Side } from '../turns.js'
import { recallOf } from './engine.js'
import { fill, openEngine } from './open.js'
import type { BenchDocument, BenchQuery, Workload } from './workload.js'

export interface Filled {
  /** from the first document until all are found and no index work is left */
  seconds: number
  /** the most the process held, without what the documents themselves take */
  peakBytes: number
  /** of its vector search, among the first ten */
  recall: number
}

export interface Peer extends Filled {
  /** @param top hits wanted, the engine's usual ten when absent */
  ask(places: number[], top?: number): ReturnType<Side>
  stop(): Promise<void>
}

const RECALL_QUERIES = 50

/** Texts and vectors as files that any process reads: none is timed for making them. */
export function writeWorkload(folder: string, { documents, queries }: Workload): void {
  const lines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  writeFileSync(join(folder, 'documents.jsonl'), lines(documents.map(({ title, text }) => ({ title, text }))))
  writeFileSync(join(folder, 'queries.jsonl'), lines(queries.map(({ text }) => ({ text }))))
  for (const [name, rows] of Object.entries({ documents, queries }))
    writeFileSync(join(folder, `${name}.f32`), Buffer.concat(rows.map(({ vector }) => bytesOf(vector))))
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

function readWorkload(folder: string): Workload & { dimension: number } {
  const documents = readRows<{ title: string; text: string }>(folder, 'documents')
  return {
    documents: documents.map((row, place): BenchDocument => ({ key: place + 1, ...row })),
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
  return rows.map((row, place) => ({ ...row, vector: numbers.subarray(place * dimension, (place + 1) * dimension) }))
}

/** Starts an engine over the workload of a folder, and fills it. */
export async function startPeer(engine: string, folder: string, home: string): Promise<Peer> {
  const child = await startForked(import.meta.url, ['peer', engine, folder, home], home)
  child.send('fill')
  const filled = (await answerOf(child)) as Filled
  return {
    ...filled,
    async ask(places, top) {
      child.send({ places, top })
      return (await answerOf(child)) as number[]
    },
    stop: () => stopForked(child),
  }
}

async function peer(name: string, folder: string, home: string): Promise<void> {
  const { documents, queries, dimension } = readWorkload(folder)
  const inside = join(home, name)
  mkdirSync(inside, { recursive: true })
  const engine = await openEngine(name, inside, dimension)
  const filled = async (): Promise<Filled> => {
    // forgets the peak of reading the workload
    writeFileSync('/proc/self/clear_refs', '5')
    const before = memoryOf(process.pid, 'VmRSS')
    const began = performance.now()
    await fill(engine, documents)
    await engine.settled()
    const seconds = (performance.now() - began) / 1000
    const peakBytes = memoryOf(process.pid, 'VmHWM') - before
    const { recall } = await recallOf(engine, documents, queries.slice(0, RECALL_QUERIES))
    return { seconds, peakBytes, recall }
  }
  const asked = async (places: number[], top?: number): Promise<number[]> => {
    const ms: number[] = []
    for (const place of places) {
      const began = performance.now()
      await engine.hybrid(queries[place]!, top)
      ms.push(performance.now() - began)
    }
    return ms
  }
  process.on('message', async (message: 'fill' | { places: number[]; top?: number }) => {
    process.send?.(message === 'fill' ? await filled() : await asked(message.places, message.top))
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.('ready')
}

if (process.argv[2] === 'peer') {
  const [name = '', folder = '', home = ''] = process.argv.slice(3)
  await peer(name, folder, home)
}
