import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath } from '../../local/file-system.js'
import type { GraphPoints } from './graph-points.js'
import { COUNT_OFFSET, ELEMENT_BYTES_OFFSET, HEADER_BYTES } from './graph-vectors.js'

/**
 * A graph on disk: a directory with the library's file, a table of its points and a manifest with the SHA-256 of both.
 * The library neither syncs nor checks what it writes, and a flipped bit crashes it while it reads. So the manifest is
 * written last, and checked before the library reads a byte.
 */

export const GRAPH_FILE = 'graph.hnsw'
const POINTS_FILE = 'points.bin'
const MANIFEST_FILE = 'MANIFEST.json'
/** Increased when the layout of the directory changes; graphs of other formats are rebuilt. */
const FORMAT = 1
/** uint32 row, float64 key, float64 document, float32 fingerprint */
const POINT_BYTES = 4 + 8 + 8 + 4

export interface GraphFileFacts {
  size: number
  sha256: string
}

export interface GraphManifest {
  format: number
  vectorSpace: string
  dimension: number
  points: number
  graph: GraphFileFacts
  pointsFile: GraphFileFacts
}

/** Directory name of a graph: a hash of the vector space, whose id may contain any character, and a build number. */
export function graphDirectory(vectorSpace: string, build: number): string {
  return `${graphPrefix(vectorSpace)}${build}`
}

function graphPrefix(vectorSpace: string): string {
  return `graph-${createHash('sha256').update(vectorSpace).digest('hex').slice(0, 16)}-`
}

/** Graph directories of a vector space, newest build first. */
export async function listGraphs(dir: string, vectorSpace: string): Promise<{ path: string; build: number }[]> {
  const prefix = graphPrefix(vectorSpace)
  const names = await readdir(dir).catch(() => [])
  return names
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => ({ path: join(dir, name), build: Number(name.slice(prefix.length)) }))
    .sort((a, b) => b.build - a.build)
}

/** Removes leftovers of interrupted builds. */
export async function removeBuildLeftovers(dir: string): Promise<void> {
  await removeDirectories(dir, (name) => name.startsWith('tmp-graph-'))
}

/** Removes the graphs of every vector space but one. */
export async function removeOtherGraphs(dir: string, keep: string): Promise<void> {
  await removeDirectories(dir, (name) => name.startsWith('graph-') && !name.startsWith(graphPrefix(keep)))
}

async function removeDirectories(dir: string, matches: (name: string) => boolean): Promise<void> {
  const names = await readdir(dir).catch(() => [])
  for (const name of names.filter(matches)) await rm(join(dir, name), { recursive: true, force: true })
}

/** Size and SHA-256 of a file, read in chunks. */
export async function computeFileFacts(path: string): Promise<GraphFileFacts> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    hash.update(chunk)
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex') }
}

/**
 * Completes a graph directory that already has the library's file: checks that file, then writes the points and, last,
 * the manifest, all synced.
 *
 * @throws Error when the size of the library file differs from what its header says
 */
export async function finishGraph(
  dir: string,
  facts: { vectorSpace: string; dimension: number },
  points: Uint8Array,
): Promise<void> {
  const graphPath = join(dir, GRAPH_FILE)
  await checkGraphSize(graphPath, facts.dimension)
  await syncPath(graphPath)
  const pointsPath = join(dir, POINTS_FILE)
  await writeSynced(pointsPath, points)
  const manifest: GraphManifest = {
    format: FORMAT,
    ...facts,
    points: points.length / POINT_BYTES,
    graph: await computeFileFacts(graphPath),
    pointsFile: await computeFileFacts(pointsPath),
  }
  await writeSynced(join(dir, MANIFEST_FILE), JSON.stringify(manifest))
  await syncPath(dir)
}

async function writeSynced(path: string, content: Uint8Array | string): Promise<void> {
  const handle = await open(path, 'w')
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Walks the file by its own numbers: header, one fixed-size element per point, one sized list of links per point. */
async function checkGraphSize(path: string, dimension: number): Promise<void> {
  const { size } = await stat(path)
  const handle = await open(path, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    await handle.read(header, 0, HEADER_BYTES, 0)
    const count = Number(header.readBigUInt64LE(COUNT_OFFSET))
    const elementBytes = Number(header.readBigUInt64LE(ELEMENT_BYTES_OFFSET))
    if (elementBytes < dimension * 4) throw new Error(`${path}: an element has ${elementBytes} bytes`)
    const linksOffset = HEADER_BYTES + count * elementBytes
    const links = Buffer.alloc(Math.max(0, size - linksOffset))
    await handle.read(links, 0, links.length, linksOffset)
    let offset = 0
    for (let i = 0; i < count; i++) offset += offset + 4 <= links.length ? 4 + links.readUInt32LE(offset) : size
    if (linksOffset + offset !== size) throw new Error(`${path} has ${size} bytes, its header says otherwise`)
  } finally {
    await handle.close()
  }
}

/** The table of points as bytes: all rows, then all keys, documents and fingerprints, little-endian. */
export function encodePoints(points: GraphPoints): Uint8Array {
  const { rows, keys, docs, fingerprints } = points
  return Buffer.concat(
    [rows, keys, docs, fingerprints].map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)),
  )
}

function decodePoints(bytes: Buffer): GraphPoints {
  const count = bytes.length / POINT_BYTES
  const copy = new Uint8Array(bytes).buffer
  const keysOffset = count * 4
  return {
    rows: new Uint32Array(copy.slice(0, keysOffset)),
    keys: new Float64Array(copy.slice(keysOffset, keysOffset + count * 8)),
    docs: new Float64Array(copy.slice(keysOffset + count * 8, keysOffset + count * 16)),
    fingerprints: new Float32Array(copy.slice(keysOffset + count * 16)),
  }
}

export interface VerifiedGraph {
  path: string
  facts: GraphFileFacts
  points: GraphPoints
}

/**
 * Reads a graph directory and checks every byte against its manifest.
 *
 * @throws Error that names the mismatch; the directory is unusable then
 */
export async function verifyGraph(dir: string, vectorSpace: string, dimension: number): Promise<VerifiedGraph> {
  // opening a pipe would block forever
  for (const name of [MANIFEST_FILE, GRAPH_FILE, POINTS_FILE])
    if (!(await lstat(join(dir, name))).isFile()) throw new Error(`${join(dir, name)} is not a file`)
  const manifest: Partial<GraphManifest> = JSON.parse(await readFile(join(dir, MANIFEST_FILE), 'utf8'))
  if (manifest.format !== FORMAT || manifest.vectorSpace !== vectorSpace || manifest.dimension !== dimension) {
    throw new Error(`${dir} is not a graph of ${vectorSpace} with ${dimension} dimensions`)
  }
  const path = join(dir, GRAPH_FILE)
  const facts = await checkFileFacts(path, manifest.graph)
  const pointsPath = join(dir, POINTS_FILE)
  await checkFileFacts(pointsPath, manifest.pointsFile)
  const points = decodePoints(await readFile(pointsPath))
  if (points.rows.length !== manifest.points) throw new Error(`${dir} has ${points.rows.length} points`)
  return { path, facts, points }
}

async function checkFileFacts(path: string, expected: GraphFileFacts | undefined): Promise<GraphFileFacts> {
  const actual = await computeFileFacts(path)
  if (actual.size !== expected?.size || actual.sha256 !== expected.sha256) throw new Error(`${path} is damaged`)
  return actual
}

/** Creates the temporary directory of a build. */
export async function makeBuildDirectory(dir: string, vectorSpace: string, build: number): Promise<string> {
  const path = join(dir, `tmp-${graphDirectory(vectorSpace, build)}`)
  await rm(path, { recursive: true, force: true })
  await mkdir(path, { recursive: true })
  return path
}
