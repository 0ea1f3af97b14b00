import { z } from 'zod'
import { LIMITS } from '../../contract/limits.js'
import { count } from '../../contract/primitives.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { toOneLine } from '../content.js'
import { rethrowWithArgumentNames, ToolError } from '../failure.js'
import { spaceField } from '../fields.js'
import { withPathSuggestions } from '../nearby.js'
import { defineTool, type ToolInvocation } from '../tool.js'
import { formatUri, parseUri } from '../uri.js'

const pathField = z
  .string()
  .min(1)
  .max(LIMITS.virtualPathBytes * 4)
  .describe('Path below /workspaces, such as /workspaces/notes/plan.md, or its ks:// address.')

async function resolveWorkspacePath(call: ToolInvocation, reference: string, spaceName: string | undefined) {
  const address = parseUri(reference)
  const path = reference.startsWith('ks://') ? address?.path : reference
  if (path?.startsWith('/workspaces/') !== true)
    throw new ToolError(
      'invalid-request',
      `${JSON.stringify(toOneLine(reference))} is not below /workspaces`,
      'Only files of workspaces can be changed; to change a document, change its file and `ingest` it.',
    )
  return { space: await call.spaces.resolve(address?.space ?? spaceName), path }
}

export const write = defineTool({
  name: 'write',
  title: 'Write a workspace file',
  description:
    'Write a text file of a workspace, replacing an existing one. Workspaces store notes and results of agents; read them with `read` and list them with `list`.',
  input: z.strictObject({ path: pathField, space: spaceField, content: z.string().max(LIMITS.workspaceFileBytes) }),
  output: () => z.strictObject({ space: z.string(), path: z.string(), uri: z.string(), version: z.int().optional() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: async (args, call) => {
    const location = await resolveWorkspacePath(call, args.path, args.space)
    const { version } = await call.api.request('PUT /knowledge-spaces/{id}/fs/write', {
      path: { id: location.space.id },
      body: { path: location.path, content: args.content },
    })
    const uri = formatUri({ space: location.space.slug, path: location.path })
    const data = { space: location.space.slug, path: location.path, uri, ...(version === undefined ? {} : { version }) }
    return { text: `Written: ${uri}`, data, links: [{ uri, name: location.path }] }
  },
})

export const move = defineTool({
  name: 'move',
  title: 'Move a workspace file',
  description: 'Rename or move a file or folder within the workspaces of a space.',
  input: z.strictObject({ from: pathField, to: pathField, space: spaceField }),
  output: () => z.strictObject({ space: z.string(), from: z.string(), to: z.string(), files: count }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  run: async (args, call) => {
    const from = await resolveWorkspacePath(call, args.from, args.space)
    const to = await resolveWorkspacePath(call, args.to, from.space.slug)
    if (to.space.id !== from.space.id)
      throw new ToolError(
        'invalid-request',
        'from and to are in different spaces',
        'Write the file in the other space.',
      )
    const body = { oldPath: from.path, newPath: to.path }
    const moved = await withPathSuggestions(call.api, from.space, from.path, () =>
      call.api
        .request('POST /knowledge-spaces/{id}/fs/mv', { path: { id: from.space.id }, body })
        .catch(rethrowWithArgumentNames({ oldPath: 'from', newPath: 'to' })),
    )
    const data = { space: from.space.slug, from: moved.oldPath, to: moved.newPath, files: moved.files }
    return {
      text: `Moved ${pluralize(moved.files, 'file')} to ${formatUri({ space: from.space.slug, path: moved.newPath })}`,
      data,
    }
  },
})

export const remove = defineTool({
  name: 'remove',
  title: 'Remove a workspace file',
  description: 'Remove a file of a workspace, or a folder with its content if recursive is true.',
  input: z.strictObject({ path: pathField, space: spaceField, recursive: z.boolean().default(false) }),
  output: () => z.strictObject({ space: z.string(), path: z.string(), files: count }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: async (args, call) => {
    const location = await resolveWorkspacePath(call, args.path, args.space)
    const query = { path: location.path, recursive: args.recursive ? ('true' as const) : ('false' as const) }
    const removed = await withPathSuggestions(call.api, location.space, location.path, () =>
      call.api.request('DELETE /knowledge-spaces/{id}/fs/rm', { path: { id: location.space.id }, query }),
    )
    const data = { space: location.space.slug, path: removed.path, files: removed.files }
    return {
      text: `Removed ${pluralize(removed.files, 'file')} at ${formatUri({ space: location.space.slug, path: removed.path })}`,
      data,
    }
  },
})
