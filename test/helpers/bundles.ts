import { Readable } from 'node:stream'
import type { BundleEnd, ImportedBundle } from '../../src/contract/gateway/bundles.js'
import { BUNDLE_CHECKS } from '../../src/daemon/gateway/bundle-checks.js'
import type { Caller, Engine } from '../../src/engine/index.js'
import { buildTarHeader, buildTarPadding, TAR_END, TarReader } from '../../src/lib/tar.js'

/** The complete bundle of some spaces. */
export async function exported(engine: Engine, caller: Caller, ids: readonly string[]): Promise<Buffer> {
  const bundle = await engine.bundles.open(caller, ids)
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of bundle.bytes) pieces.push(piece)
  } finally {
    bundle.close()
  }
  return Buffer.concat(pieces)
}

/** Imports a bundle in chunks of this size. */
export async function imported(
  engine: Engine,
  caller: Caller,
  bundle: Uint8Array,
  options: { slug?: string; as?: string; piece?: number } = {},
): Promise<ImportedBundle> {
  const { piece = 64 * 1024, ...rest } = options
  return await engine.bundles.import(caller, Readable.from(inPieces(bundle, piece)), {
    ...rest,
    checks: BUNDLE_CHECKS,
  })
}

function* inPieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

export interface BundleFile {
  name: string
  bytes: Buffer
}

/** The files of a bundle. */
export async function filesOf(bundle: Buffer): Promise<BundleFile[]> {
  const reader = new TarReader(Readable.from(inPieces(bundle, 1 << 20)))
  const files: BundleFile[] = []
  for (let entry = await reader.next(); entry !== undefined; entry = await reader.next())
    files.push({ name: entry.name, bytes: await reader.readAll() })
  return files
}

/** A bundle of any files; its end contains the right hash and counts. */
export async function bundleOf(files: readonly BundleFile[]): Promise<Buffer> {
  const { createHash } = await import('node:crypto')
  const rows: Record<string, number> = {}
  let objects = 0
  for (const { name, bytes } of files) {
    const table = /-([a-z_]+)\.jsonl$/.exec(name)?.[1]
    if (table !== undefined) rows[table] = (rows[table] ?? 0) + bytes.toString('latin1').split('\n').length - 1
    else if (name.startsWith('objects/')) objects += 1
  }
  const before = Buffer.concat(files.flatMap(packed))
  const sha256 = createHash('sha256').update(before).digest('hex')
  const sorted = Object.fromEntries(Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1)))
  const end = Buffer.from(`${JSON.stringify({ objects, rows: sorted, sha256 })}\n`)
  return Buffer.concat([before, ...packed({ name: 'end.json', bytes: end }), TAR_END])
}

function packed({ name, bytes }: BundleFile): Buffer[] {
  return [buildTarHeader({ name, size: bytes.length }), bytes, buildTarPadding(bytes.length)]
}

/** The number of rows of each table that a bundle declares. */
export async function countsOf(bundle: Buffer): Promise<Record<string, number>> {
  const end: BundleEnd = JSON.parse(String((await filesOf(bundle)).at(-1)?.bytes))
  return end.rows
}

/** The first lines in which two bundles differ; none if they are identical. */
export async function differences(one: Buffer, other: Buffer): Promise<string[]> {
  if (one.equals(other)) return []
  const [left, right] = [await linesOf(one), await linesOf(other)]
  const found = left.flatMap((line, at) => (line === right[at] ? [] : [`- ${line}`, `+ ${right[at]}`]))
  return [`${left.length} and ${right.length} lines`, ...found.slice(0, 6).map((line) => line.slice(0, 600))]
}

async function linesOf(bundle: Buffer): Promise<string[]> {
  const files = await filesOf(bundle)
  return files.flatMap(({ name, bytes }) =>
    bytes
      .toString('latin1')
      .split('\n')
      .map((line) => `${name}: ${line}`),
  )
}
