import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { boundedLimit, count, isoDateTime, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'

const name = z.string().min(1).max(LIMITS.filename)
const place = z.string().min(1).max(LIMITS.localPath)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 lowercase hexadecimal digits')

/** A file of this machine that a document was made from. */
const recorded = {
  filename: name,
  path: place,
  /** size, times and inode when its bytes were hashed; empty when they are to be looked at again */
  fingerprint: z.string().max(LIMITS.fingerprint),
  device: z.string().max(LIMITS.fingerprint),
  sizeBytes: count,
  sha256,
}

export const LocalFile = z
  .strictObject({
    ...recorded,
    /** the folder it was found below */
    root: z.string().optional(),
    /** the live documents of its name that belong to no source, newest first */
    documents: z.array(
      z.strictObject({ id: uuid, sha256: z.string(), parserStatus: z.enum(['pending', 'parsed', 'failed']) }),
    ),
  })
  .meta({ id: 'LocalFile' })
export type LocalFile = z.output<typeof LocalFile>

export const RecordLocalFilesBody = z.strictObject({
  root: place.optional(),
  files: z.array(z.strictObject(recorded)).max(LIMITS.localFiles).default([]),
  /** filenames whose files are not known any more */
  forget: z.array(name).max(LIMITS.localFiles).default([]),
})
export type RecordLocalFilesBody = z.output<typeof RecordLocalFilesBody>

const patterns = z.array(z.string().min(1).max(LIMITS.watchPattern)).max(LIMITS.watchPatterns).default([])

const rules = {
  /** patterns to leave out, in the language of .gitignore */
  ignore: patterns,
  /** only files that one of these names; all when empty */
  glob: patterns,
  hidden: z.boolean().default(false),
  /** heed .gitignore and .ksignore */
  ignoreFiles: z.boolean().default(true),
  onDelete: z.enum(['remove', 'keep']).default('remove'),
  /** ask the disk so often, in place of waiting for its events; where it tells none, that is done unasked */
  pollMs: z.number().int().min(LIMITS.pollMs.min).max(LIMITS.pollMs.max).optional(),
}

export const Watch = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    folder: z.string(),
    ...rules,
    createdAt: isoDateTime,
    state: z.enum(['starting', 'syncing', 'watching', 'waiting', 'folder-missing', 'withheld', 'failed']),
    /** one sentence on a state that needs one */
    detail: z.string().optional(),
    /** files that the watch knows */
    files: count.optional(),
    lastSyncAt: isoDateTime.optional(),
    /** how often the disk is asked, where that is done */
    polledEveryMs: count.optional(),
  })
  .meta({ id: 'Watch' })
export type Watch = z.output<typeof Watch>

/** What the process that watches says of one watch. */
export type WatchState = Pick<Watch, 'state' | 'detail' | 'files' | 'lastSyncAt' | 'polledEveryMs'>
/** A watch as it is kept; what it is doing right now is known to the process that watches. */
export type KeptWatch = Omit<Watch, keyof WatchState>

export const AddWatchBody = z.strictObject({
  knowledgeSpaceId: uuid,
  folder: place,
  ...rules,
  /** remove the documents whose files a look at another disk did not find */
  acceptMissing: z.boolean().default(false),
})
export type AddWatchBody = z.output<typeof AddWatchBody>

export const localFilesRoutes = [
  route({
    id: 'listLocalFiles',
    method: 'GET',
    path: '/knowledge-spaces/{id}/local-files',
    scope: 'read',
    only: 'operator',
    summary: 'List which files of this machine the documents of a space were made from; only for the operator.',
    params: SpaceParams,
    query: z.strictObject({
      root: place.optional(),
      filename: name.optional(),
      /** go on after this filename */
      after: name.optional(),
      limit: boundedLimit(LIMITS.localFilesPage),
    }),
    ok: { 200: z.strictObject({ items: z.array(LocalFile), nextAfter: z.string().optional() }) },
    errors: [400, 403, 404, 501],
    extension: true,
  }),
  route({
    id: 'recordLocalFiles',
    method: 'POST',
    path: '/knowledge-spaces/{id}/local-files',
    scope: 'write',
    only: 'operator',
    summary: 'Record which files of this machine documents are made from; only for the operator.',
    params: SpaceParams,
    body: RecordLocalFilesBody,
    ok: { 200: z.strictObject({ recorded: count, forgotten: count }) },
    errors: [400, 403, 404, 501],
    extension: true,
  }),
  route({
    id: 'listWatches',
    method: 'GET',
    path: '/daemon/watches',
    scope: 'read',
    only: 'operator',
    summary: 'List the folders that this daemon watches; only for the operator.',
    ok: { 200: z.strictObject({ items: z.array(Watch) }) },
    errors: [403, 501],
    extension: true,
  }),
  route({
    id: 'addWatch',
    method: 'POST',
    path: '/daemon/watches',
    scope: 'write',
    only: 'operator',
    summary: 'Watch a folder of this machine for a space, from now on and after every start; only for the operator.',
    body: AddWatchBody,
    ok: { 200: Watch },
    errors: [400, 403, 404, 429, 501],
    extension: true,
  }),
  route({
    id: 'removeWatch',
    method: 'DELETE',
    path: '/daemon/watches/{watchId}',
    scope: 'write',
    only: 'operator',
    summary: 'Stop watching a folder; its documents stay. Only for the operator.',
    params: z.strictObject({ watchId: uuid }),
    ok: { 204: 'empty' },
    errors: [403, 404, 501],
    extension: true,
  }),
] as const
