import { realpathSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { LIMITS } from '../../contract/limits.js'
import { count } from '../../contract/primitives.js'
import { counted } from '../../lib/text/counted.js'
import { oneLine, Writer } from '../content.js'
import { ToolError } from '../failure.js'
import { space } from '../fields.js'
import { tool } from '../tool.js'
import { uriOf } from '../uri.js'

const SHOWN = 50
const PATHS = 100

const File = z.strictObject({
  filename: z.string(),
  status: z.string(),
  documentId: z.string().optional(),
  uri: z.string().optional(),
  reason: z.string().optional(),
})

export const ingest = tool({
  name: 'ingest',
  title: 'Ingest files',
  description:
    'Upload files or folders of this machine into a space, so that they can be searched and asked. What the space holds already is not sent again. Only paths inside the folders that the client allows are taken.',
  input: z.strictObject({
    paths: z.array(z.string().min(1).max(LIMITS.localPath)).min(1).max(PATHS).describe('Absolute paths.'),
    space,
    wait: z.boolean().default(true).describe('Wait until every file can be found, or has failed.'),
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      counts: z.record(z.string(), count).describe('files by what became of them'),
      files: z.array(File),
      leftOut: count.describe('files that are not listed here'),
    }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  isLocal: true,
  run: async (args, { spaces, local, roots, signal, progress }) => {
    const ref = await spaces.named(args.space)
    const paths = permitted(args.paths, await roots())
    if (local === undefined) throw new ToolError('not-configured', 'this server has no files of yours', 'Use ks mcp.')
    const request = {
      paths,
      spaceId: ref.id,
      wait: args.wait,
      signal,
      progress: (done: number, total: number) => progress(`${done} of ${counted(total, 'file')}`, done, total),
    }
    const all = await local.ingest(request)
    const counts: Record<string, number> = {}
    for (const { status } of all) counts[status] = (counts[status] ?? 0) + 1
    // what needs a look comes first
    const sorted = [...all].sort((a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'))
    const files = sorted.slice(0, SHOWN).map(({ filename, status, documentId, reason }) => ({
      filename,
      status,
      ...(documentId === undefined ? {} : { documentId, uri: uriOf({ space: ref.slug, documentId }) }),
      ...(reason === undefined ? {} : { reason }),
    }))
    const said = Object.entries(counts).map(([status, number]) => `${number} ${status}`)
    const writer = new Writer().line(`${counted(all.length, 'file')} into ${oneLine(ref.slug)}: ${said.join(', ')}`)
    const lines = files.map(({ filename, status, reason = '' }) => oneLine(`${status} ${filename} ${reason}`))
    if (lines.length > 0) writer.content(lines.join('\n'))
    const leftOut = all.length - files.length
    if (leftOut > 0) writer.line(`Not listed: ${counted(leftOut, 'more file')}.`)
    return { text: writer.text(), data: { space: ref.slug, counts, files, leftOut } }
  },
})

/** @throws ToolError for a path outside the folders that the client allows, also through a link */
function permitted(paths: readonly string[], roots: readonly string[] | undefined): string[] {
  const real = (roots ?? []).map(realOf)
  return paths.map((path) => {
    if (!isAbsolute(path))
      throw new ToolError('invalid-request', `${oneLine(path)} is not an absolute path`, 'Give the whole path.')
    if (roots === undefined || real.some((root) => isInside(root, realOf(path)))) return path
    const next = roots.length === 0 ? 'The client allows no folder.' : `Allowed are: ${roots.map(oneLine).join(', ')}`
    throw new ToolError('invalid-request', `${oneLine(path)} is outside the folders that the client allows`, next)
  })
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path) // it does not exist, which the ingest tells
  }
}

function isInside(root: string, path: string): boolean {
  const inside = relative(root, path)
  return inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))
}
