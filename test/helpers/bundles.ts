import { Readable } from 'node:stream'
import type { BundleEnd, ImportedBundle } from '../../src/contract/gateway/bundles.js'
import { BUNDLE_CHECKS } from '../../src/daemon/gateway/bundle-checks.js'
import type { Caller, Engine } from '../../src/engine/index.js'
import { buildTarHeader, buildTarPadding, TAR_END, TarReader } from '../../src/lib/tar.js'

/** Exports spaces as one bundle. */
export async function exportBundle(engine: Engine, caller: Caller, ids: readonly string[]): Promise<Buffer> {
  const bundle = await engine.bundles.open(caller, ids)
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of bundle.bytes) chunks.push(chunk)
  } finally {
    bundle.close()
  }
  return Buffer.concat(chunks)
}

/** Imports a bundle that arrives in chunks. */
export async function importBundle(
  engine: Engine,
  caller: Caller,
  bundle: Uint8Array,
  options: { slug?: string; as?: string; chunkBytes?: number } = {},
): Promise<ImportedBundle> {
  const { chunkBytes = 64 * 1024, ...rest } = options
  return await engine.bundles.import(caller, Readable.from(splitIntoChunks(bundle, chunkBytes)), {
    ...rest,
    checks: BUNDLE_CHECKS,
  })
}

function* splitIntoChunks(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

export interface BundleFile {
  name: string
  bytes: Buffer
}

/** The files of a bundle. */
export async function listFiles(bundle: Buffer): Promise<BundleFile[]> {
  const reader = new TarReader(Readable.from(splitIntoChunks(bundle, 1 << 20)))
  const files: BundleFile[] = []
  for (let entry = await reader.next(); entry !== undefined; entry = await reader.next())
    files.push({ name: entry.name, bytes: await reader.readAll() })
  return files
}

/** Builds a bundle of any files; its end contains the right hash and counts. */
export async function buildBundle(files: readonly BundleFile[]): Promise<Buffer> {
  const { createHash } = await import('node:crypto')
  const rows: Record<string, number> = {}
  let objects = 0
  for (const { name, bytes } of files) {
    const table = /-([a-z_]+)\.jsonl$/.exec(name)?.[1]
    if (table !== undefined) rows[table] = (rows[table] ?? 0) + bytes.toString('latin1').split('\n').length - 1
    else if (name.startsWith('objects/')) objects += 1
  }
  const content = Buffer.concat(files.flatMap(packFile))
  const sha256 = createHash('sha256').update(content).digest('hex')
  const sorted = Object.fromEntries(Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1)))
  const end = Buffer.from(`${JSON.stringify({ objects, rows: sorted, sha256 })}\n`)
  return Buffer.concat([content, ...packFile({ name: 'end.json', bytes: end }), TAR_END])
}

function packFile({ name, bytes }: BundleFile): Buffer[] {
  return [buildTarHeader({ name, size: bytes.length }), bytes, buildTarPadding(bytes.length)]
}

/** The number of rows of each table that a bundle declares. */
export async function readRowCounts(bundle: Buffer): Promise<Record<string, number>> {
  const end: BundleEnd = JSON.parse(String((await listFiles(bundle)).at(-1)?.bytes))
  return end.rows
}

/** The first lines in which two bundles differ; none if they are identical. */
export async function listDifferences(expected: Buffer, actual: Buffer): Promise<string[]> {
  if (expected.equals(actual)) return []
  const [left, right] = [await listLines(expected), await listLines(actual)]
  const differing = left.flatMap((line, index) => (line === right[index] ? [] : [`- ${line}`, `+ ${right[index]}`]))
  return [`${left.length} and ${right.length} lines`, ...differing.slice(0, 6).map((line) => line.slice(0, 600))]
}

async function listLines(bundle: Buffer): Promise<string[]> {
  const files = await listFiles(bundle)
  return files.flatMap(({ name, bytes }) =>
    bytes
      .toString('latin1')
      .split('\n')
      .map((line) => `${name}: ${line}`),
  )
}
