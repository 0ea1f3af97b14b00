import { realpathSync } from 'node:fs'
import { isAbsolute, parse, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { LIMITS } from '../../contract/limits.js'
import { count } from '../../contract/primitives.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { ToolTextWriter, toOneLine } from '../content.js'
import { ToolError } from '../failure.js'
import { spaceField } from '../fields.js'
import { defineTool } from '../tool.js'
import { formatUri } from '../uri.js'

const MAX_SHOWN_FILES = 50
const MAX_PATHS = 100

const ingestedFileSchema = z.strictObject({
  filename: z.string(),
  status: z.string(),
  documentId: z.string().optional(),
  uri: z.string().optional(),
  reason: z.string().optional(),
})

export const ingest = defineTool({
  name: 'ingest',
  title: 'Ingest files',
  description:
    'Upload files or folders of this machine into a space, so that they can be searched. Unchanged files are not uploaded again. Allowed are paths inside the roots of the client; if the client has none, inside the working directory of the server, without hidden files and folders.',
  input: z.strictObject({
    paths: z.array(z.string().min(1).max(LIMITS.localPath)).min(1).max(MAX_PATHS).describe('Absolute paths.'),
    space: spaceField,
    wait: z.boolean().default(true).describe('Whether to wait until every file can be searched or has failed.'),
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      counts: z.record(z.string(), count).describe('number of files by status'),
      files: z.array(ingestedFileSchema),
      leftOut: count.describe('number of files not listed here'),
    }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  isLocal: true,
  run: async (args, { spaces, ingester, listRoots, signal, reportProgress }) => {
    const space = await spaces.resolve(args.space)
    const paths = checkPaths(args.paths, await listRoots())
    if (ingester === undefined)
      throw new ToolError('not-configured', 'this server has no access to your files', 'Use `ks mcp`.')
    const ingested = await ingester.ingest({
      paths,
      spaceId: space.id,
      wait: args.wait,
      signal,
      onProgress: (done, total) => reportProgress(`${done} of ${pluralize(total, 'file')}`, done, total),
    })
    const counts: Record<string, number> = {}
    for (const { status } of ingested) counts[status] = (counts[status] ?? 0) + 1
    // Failed files come first.
    const sorted = [...ingested].sort((a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'))
    const files = sorted.slice(0, MAX_SHOWN_FILES).map(({ filename, status, documentId, reason }) => ({
      filename,
      status,
      ...(documentId === undefined ? {} : { documentId, uri: formatUri({ space: space.slug, documentId }) }),
      ...(reason === undefined ? {} : { reason }),
    }))
    const countTexts = Object.entries(counts).map(([status, number]) => `${number} ${status}`)
    const writer = new ToolTextWriter().line(
      `${pluralize(ingested.length, 'file')} into ${toOneLine(space.slug)}: ${countTexts.join(', ')}`,
    )
    const lines = files.map(({ filename, status, reason = '' }) => toOneLine(`${status} ${filename} ${reason}`))
    if (lines.length > 0) writer.content(lines.join('\n'))
    const leftOut = ingested.length - files.length
    if (leftOut > 0) writer.line(`Not listed: ${pluralize(leftOut, 'more file')}.`)
    return { text: writer.text(), data: { space: space.slug, counts, files, leftOut } }
  },
})

/**
 * Checks paths after resolving symbolic links. All paths inside the roots of the client are allowed; without roots,
 * those in the working directory that are not hidden.
 *
 * @throws ToolError
 */
function checkPaths(paths: readonly string[], roots: readonly string[] | undefined): string[] {
  const allowedFolders = (roots ?? getWorkingDirectory()).map(toRealPath)
  return paths.map((path) => {
    if (!isAbsolute(path))
      throw new ToolError('invalid-request', `${toOneLine(path)} is not an absolute path`, 'Give the absolute path.')
    const relativePath = allowedFolders.map((root) => relative(root, toRealPath(path))).find(isInside)
    if (relativePath === undefined) throw createOutsideError(path, roots, allowedFolders)
    if (roots === undefined && relativePath.split(sep).some((part) => part.startsWith('.')))
      throw new ToolError(
        'invalid-request',
        `${toOneLine(path)} is hidden, and the client names no folders: hidden files are only allowed inside folders that it names`,
        'Tell the user. Files that are not hidden can be ingested.',
      )
    return path
  })
}

/** The working directory; none if it is the root of the file system, where some clients start servers. */
function getWorkingDirectory(): string[] {
  const folder = process.cwd()
  return folder === parse(folder).root ? [] : [folder]
}

function createOutsideError(
  path: string,
  roots: readonly string[] | undefined,
  allowedFolders: readonly string[],
): ToolError {
  const message =
    roots === undefined
      ? `${toOneLine(path)} is outside the working directory of this server, and the client names no folders`
      : `${toOneLine(path)} is outside the folders that the client allows`
  const next =
    allowedFolders.length === 0
      ? 'The client allows no folder.'
      : `Allowed are: ${allowedFolders.map(toOneLine).join(', ')}`
  return new ToolError('invalid-request', message, next)
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path) // A missing path is reported by the ingest.
  }
}

/** @param path relative to a folder */
function isInside(path: string): boolean {
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)
}
