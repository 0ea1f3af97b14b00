import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { buildTarHeader, TAR_BLOCK_BYTES } from '../../../../src/lib/tar.js'
import { seededRandom } from '../../../crash/random.js'
import { type BundleFile, buildBundle, exportBundle, importBundle, listFiles } from '../../../helpers/bundles.js'
import { ADA, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

let from: TestEngine
let to: TestEngine
let space: string
let bundle: Buffer
let files: BundleFile[]

beforeAll(async () => {
  from = await startEngine()
  to = await startEngine()
  space = (await from.engine.spaces.create(ADA, { name: 'Harbour', slug: 'harbour' })).id
  const notes = Array.from({ length: 36 }, (_, n) => [
    `${n}.md`,
    `# Pier ${n}\n\nPier ${n} has ${n + 3} ladders and a lamp.\n`,
  ])
  await ingest(from.engine, ADA, space, Object.fromEntries(notes))
  await from.engine.quality.golden.create(ADA, space, {
    question: 'How many?',
    expectedEvidenceIds: [],
    tags: [],
    metadata: {},
  })
  await until(async () => (await from.engine.activity()).backgroundTasks === 0)
  bundle = await exportBundle(from.engine, ADA, [space])
  files = (await listFiles(bundle)).slice(0, -1)
}, 120_000)

afterAll(async () => {
  await from.end()
  await to.end()
})

/** Imports again until the leftovers of an earlier attempt are removed. */
async function tried(bytes: Uint8Array): Promise<unknown> {
  for (;;) {
    const outcome = await importBundle(to.engine, BOB, bytes, { chunkBytes: 4096 }).catch((error: unknown) => error)
    const isWaiting = outcome instanceof KsError && outcome.message.includes('still being removed')
    if (!isWaiting) return outcome
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function refused(bytes: Uint8Array, why: RegExp, code = 'invalid-bundle'): Promise<void> {
  const outcome = await tried(bytes)
  expect(outcome).toBeInstanceOf(KsError)
  expect(outcome).toMatchObject({ code, message: expect.stringMatching(why) })
  expect((await to.engine.spaces.list(BOB, { limit: 10 })).items).toEqual([])
}

const tableOf = ({ name }: BundleFile) => /-([a-z_]+)\.jsonl$/.exec(name)?.[1]

type Change = (line: Record<string, unknown>, at: number) => Record<string, unknown>

/** The bundle with changed lines of one table. */
function changed(table: string, change: Change): Promise<Buffer> {
  return rewritten(table, (lines) => lines.map((line, at) => JSON.stringify(change(JSON.parse(line), at))))
}

function rewritten(table: string, change: (lines: string[]) => (string | Buffer)[]): Promise<Buffer> {
  return buildBundle(
    files.map((file) => {
      if (tableOf(file) !== table) return file
      const lines = change(file.bytes.toString('utf8').trimEnd().split('\n'))
      return { ...file, bytes: Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])) }
    }),
  )
}

const first =
  (change: Change): Change =>
  (line, at) =>
    at === 0 ? change(line, at) : line
const put = (values: Record<string, unknown>): Change => first((line) => ({ ...line, ...values }))
const deep = `${'['.repeat(200)}${']'.repeat(200)}`

describe('a bundle from an untrusted origin', () => {
  it.each<[string, () => Promise<Buffer>, RegExp]>([
    ['has an extra key', () => changed('documents', put({ tenant: 'tenant-a' })), /has a key "tenant"/],
    [
      'lacks a column',
      () =>
        changed(
          'documents',
          first(({ filename: _, ...line }) => line),
        ),
      /has no filename/,
    ],
    ['has a number below 0', () => changed('documents', put({ size_bytes: -1 })), /has a size_bytes/],
    ['has an impossible time', () => changed('documents', put({ created_at: 9e15 })), /has a created_at/],
    ['has an unknown state', () => changed('documents', put({ parser_status: 'odd' })), /has no known value/],
    [
      'has an unfinished document',
      () => changed('documents', put({ parser_status: 'pending' })),
      /still being processed/,
    ],
    ['has an invalid id', () => changed('documents', put({ id: '../../x' })), /is not a uuid/],
    ['has invalid JSON', () => changed('documents', put({ metadata: '{' })), /is not JSON/],
    ['has JSON nested too deeply', () => changed('documents', put({ metadata: deep })), /nested deeper/],
    [
      'has a document of a foreign source',
      () => changed('documents', put({ source_id: crypto.randomUUID() })),
      /of source/,
    ],
    [
      'has a document twice',
      () => rewritten('documents', ([one, ...rest]) => [String(one), String(one), ...rest]),
      /twice|rows that contradict|passages|versions/,
    ],
    [
      'has lines that are not UTF-8',
      () => rewritten('documents', () => [Buffer.from([0x7b, 0xff, 0x7d])]),
      /is not JSON/,
    ],
    [
      'has a version without a document',
      () => changed('versions', put({ document: crypto.randomUUID() })),
      /document is not before it/,
    ],
    [
      'has a version of a later publication',
      () => changed('versions', put({ from_revision: 10_000 })),
      /of a publication/,
    ],
    ['lacks a version', () => rewritten('versions', (lines) => lines.slice(1)), /version/],
    ['has an invalid artifact', () => changed('versions', put({ artifact: 'AAAA' })), /cannot be unpacked/],
    [
      'has an artifact with another hash',
      () => changed('versions', put({ artifact_hash: 'b'.repeat(64) })),
      /does not have its hash/,
    ],
    ...shapeless(),
    [
      'has a cell with too many values',
      () => changed('golden_questions', put({ tags: `[${'0,'.repeat(300_000)}0]` })),
      /more than 200000 values/,
    ],
    [
      'has a line with too many values',
      () => changed('nodes', put({ reads: Array.from({ length: 300_000 }, () => 0) })),
      /more than 200000 values/,
    ],
    ['has passages out of order', () => changed('nodes', put({ ordinal: 7 })), /do not follow/],
    ['lacks passages', () => rewritten('nodes', (lines) => lines.slice(0, -1)), /passages/],
    ['has a passage without a version', () => changed('nodes', put({ version: 9 })), /version is not before/],
    [
      'has a vector whose length is not that of its vector space',
      () => changed('nodes', put({ vector: 'AAAA' })),
      /does not fit its vector space/,
    ],
    [
      'has vectors with an infinite number',
      () => changed('nodes', (line) => ({ ...line, vector: endless(line.vector) })),
      /does not fit its vector space/,
    ],
    ['has an invalid model', () => changed('vector_spaces', put({ model: 'AAAA' })), /embedding model that/],
    [
      'has a vector space that its space does not use',
      () => changed('vector_spaces', put({ id: crypto.randomUUID() })),
      /not the one of its space/,
    ],
    ['has a golden question with a numeric tag', () => changed('golden_questions', put({ tags: '[1]' })), /tags/],
    ['has a name that is too long', () => changed('spaces', put({ name: 'x'.repeat(5000) })), /name/],
    [
      'refers to a missing publication',
      () => changed('publications', (line) => ({ ...line, id: crypto.randomUUID() })),
      /publication that it shows/,
    ],
  ])('fails the import and leaves nothing when it %s', async (_what, make, why) => {
    await refused(await make(), why)
  })

  it('fails the import when a file in the bundle is unknown, missing, duplicate or oversized', async () => {
    const [manifest, ...rest] = files
    const evil = (name: string) => buildBundle([...files, { name, bytes: Buffer.from('x') }])
    if (manifest === undefined) throw new Error('the bundle is empty')
    await refused(await evil('../../../tmp/evil'), /which no bundle has/)
    await refused(await evil('/etc/passwd'), /which no bundle has/)
    await refused(await evil(`objects/${'a'.repeat(64)}`), /other bytes/)
    await refused(await buildBundle(rest), /does not begin with its manifest/)
    await refused(await buildBundle([manifest, ...files]), /two manifests/)
    await refused(await buildBundle([...files, ...rest]), /out of place|without a reference/)
    await refused(await buildBundle(files.filter((file) => !file.name.startsWith('objects/'))), /refers to object/)
    await refused(
      await buildBundle(files.filter((file) => tableOf(file) !== 'documents')),
      /out of place|without a reference/,
    )
    const newer = JSON.parse(String(manifest.bytes))
    await refused(
      await buildBundle([{ ...manifest, bytes: Buffer.from(JSON.stringify({ ...newer, schema: 9999 })) }, ...rest]),
      /use a newer version/,
    )
    const link = Buffer.from(bundle)
    link.write('2', TAR_BLOCK_BYTES * 2 + 156, 'latin1')
    await refused(link, /with an unexpected header/)
    const huge = Buffer.concat([
      bundle.subarray(0, TAR_BLOCK_BYTES * 2),
      buildTarHeader({ name: files[1]?.name ?? '', size: 2 ** 32 }),
      Buffer.alloc(TAR_BLOCK_BYTES),
    ])
    await refused(huge, /bytes, at most/)
  })

  it('fails the import when the bundle is truncated, extended or changed in any byte', async () => {
    const random = seededRandom(7)
    for (let round = 0; round < 8; round++)
      await refused(bundle.subarray(0, Math.floor(random() * (bundle.length - 1))), /ends early|has no end/)
    await refused(Buffer.concat([bundle, Buffer.from('x')]), /continues after/)
    // Only the digest detects this change.
    const said = Buffer.from(bundle)
    said.write('How much!', said.indexOf('How many?'))
    await refused(said, /its hash or its counts differ/)
    for (let round = 0; round < 24; round++) {
      const bytes = Buffer.from(bundle)
      const at = Math.floor(random() * bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
      const outcome = await tried(bytes)
      expect(outcome).toBeInstanceOf(KsError)
      expect((await to.engine.spaces.list(BOB, { limit: 10 })).items).toEqual([])
    }
  })

  it('either imports completely or fails with a documented error, whatever its rows contain', async () => {
    const random = seededRandom(11)
    const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
    const values = [null, true, -1, 0.5, 1e300, '', '\u0000', '\ud800', [], {}, '[]', 'x'.repeat(70_000)]
    for (let round = 0; round < 30; round++) {
      const table = pick(files.map(tableOf).filter((name) => name !== undefined)) ?? ''
      const bytes = await changed(table, (line) => {
        const column = pick(Object.keys(line)) ?? ''
        return random() < 0.3 ? { ...line, [column]: pick(values) } : line
      })
      const outcome = await tried(bytes)
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(KsError)
      for (const { id } of (await to.engine.spaces.list(BOB, { limit: 10 })).items)
        await to.engine.spaces.delete(BOB, id)
    }
  })

  it('leaves nothing after its rejection that would block the genuine bundle', async () => {
    expect(await tried(bundle)).toMatchObject({ spaces: [{ id: space, documents: 36 }] })
    expect((await exportBundle(to.engine, BOB, [space])).equals(bundle)).toBe(true)
  })
})

function packed(text: string): string {
  return deflateSync(text).toString('base64')
}

const section = {
  id: 's1',
  title: 't',
  level: 1,
  tocSource: 'heading',
  sectionPath: [],
  children: [],
  sourceElementIds: [],
}
const item = { parseElementId: 'e1', modality: 'table', sectionPath: [], sourceMetadata: {} }
const element = { id: 'e1', type: 'paragraph', sectionPath: [], metadata: {} }
const sections = (depth: number): object => ({ ...section, children: depth === 0 ? [] : [sections(depth - 1)] })
const many = (count: number, value: unknown) => `[${`${JSON.stringify(value)},`.repeat(count)}${JSON.stringify(value)}]`

/** Packed parts that the compiler does not produce. */
function shapeless(): [string, () => Promise<Buffer>, RegExp][] {
  const wide = 'x'.repeat(1_000_000)
  const parts: [part: string, text: string, why: RegExp][] = [
    ['artifact', '[]', /not the expected JSON/],
    ['artifact', JSON.stringify({ text: '' }), /text and elements/],
    ['artifact', JSON.stringify({ text: '', elements: [0] }), /packed artifact .* does not fit/],
    ['artifact', JSON.stringify({ text: '', elements: [{ ...element, type: 'bomb' }] }), /does not fit: type/],
    ['artifact', JSON.stringify({ text: '', elements: [], more: 1 }), /has a key "more"/],
    ['artifact', `{"text":"${wide.repeat(101)}","elements":[]}`, /more than 100663296 bytes unpacked/],
    [
      'artifact',
      `{"text":"","elements":[${JSON.stringify({ ...element, text: wide.repeat(17) })}]}`,
      /a value of more than/,
    ],
    ['artifact', `{"text":"","elements":[{"metadata":${many(1_000_001, 0)}}]}`, /more than 1000000 members/],
    ['artifact', `{"text":"","elements":[{"sectionPath":${many(900_000, 0)}}]}`, /does not fit: /],
    ['outline', '['.repeat(500), /not the expected JSON/],
    ['outline', JSON.stringify([sections(40)]), /nested deeper than 32 levels/],
    ['outline', JSON.stringify([{ ...section, level: 'one' }]), /does not fit: level/],
    ['outline', JSON.stringify([{ ...section, childNodeIds: [] }]), /does not fit/],
    ['outline', `[{"__proto__":${JSON.stringify(section)},"children":[]}]`, /does not fit/],
    ['outline', many(270_000, { ...section, title: 'x'.repeat(60) }), /more than 33554432 bytes unpacked/],
    ['items', many(40_000, wide.slice(0, 1000)), /packed items .* does not fit/],
    ['items', many(450_000, item), /more than 33554432 bytes unpacked/],
    ['items', JSON.stringify([{ ...item, asset: { bytes: 'AAAA' } }]), /does not fit: asset/],
    ['items', `${JSON.stringify([item])} []`, /not the expected JSON/],
  ]
  return parts.map(([part, text, why]) => [
    `has ${part} ${text.length > 80 ? `${text.slice(0, 60)}… of ${text.length} characters` : text}`,
    () => changed('versions', put({ [part]: packed(text) })),
    why,
  ])
}

/** The vector with an infinite number. */
function endless(vector: unknown): unknown {
  if (typeof vector !== 'string') return vector
  const bytes = Buffer.from(vector, 'base64')
  bytes.writeUInt16LE(0x7c00, 0)
  return bytes.toString('base64')
}
