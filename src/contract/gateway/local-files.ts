import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { boundedLimit, count, isoDateTime, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'

const name = z.string().min(1).max(LIMITS.filename)
const localPath = z.string().min(1).max(LIMITS.localPath)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 lowercase hexadecimal digits')

/** A file of this machine from which a document was made. */
const localFileFields = {
  filename: name,
  path: localPath,
  /** Size, times and inode at the time of hashing; empty: to be checked again. */
  fingerprint: z.string().max(LIMITS.fingerprint),
  device: z.string().max(LIMITS.fingerprint),
  sizeBytes: count,
  sha256,
}

export const LocalFile = z
  .strictObject({
    ...localFileFields,
    /** The folder that contains the file. */
    root: z.string().optional(),
    /** Live documents of this name without a source, newest first. */
    documents: z.array(
      z.strictObject({ id: uuid, sha256: z.string(), parserStatus: z.enum(['pending', 'parsed', 'failed']) }),
    ),
  })
  .meta({ id: 'LocalFile' })
export type LocalFile = z.output<typeof LocalFile>

export const RecordLocalFilesBody = z.strictObject({
  root: localPath.optional(),
  files: z.array(z.strictObject(localFileFields)).max(LIMITS.localFiles).default([]),
  /** File names to forget. */
  forget: z.array(name).max(LIMITS.localFiles).default([]),
})
export type RecordLocalFilesBody = z.output<typeof RecordLocalFilesBody>

const patterns = z.array(z.string().min(1).max(LIMITS.watchPattern)).max(LIMITS.watchPatterns).default([])

const watchRules = {
  /** Patterns of files to ignore, in .gitignore syntax. */
  ignore: patterns,
  /** Patterns of files to include; empty: all. */
  glob: patterns,
  hidden: z.boolean().default(false),
  /** Obey .gitignore and .ksignore. */
  ignoreFiles: z.boolean().default(true),
  onDelete: z.enum(['remove', 'keep']).default('remove'),
  /** Interval between polls of the disk, instead of waiting for its events; a disk without events is always polled. */
  pollMs: z.number().int().min(LIMITS.pollMs.min).max(LIMITS.pollMs.max).optional(),
}

export const Watch = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    folder: z.string(),
    ...watchRules,
    createdAt: isoDateTime,
    state: z.enum(['starting', 'syncing', 'watching', 'waiting', 'folder-missing', 'withheld', 'failed']),
    /** One sentence about the state, if it needs one. */
    detail: z.string().optional(),
    /** Number of files in the watch. */
    files: count.optional(),
    lastSyncAt: isoDateTime.optional(),
    /** Interval between polls, if the disk is polled. */
    polledEveryMs: count.optional(),
  })
  .meta({ id: 'Watch' })
export type Watch = z.output<typeof Watch>

/** State of one watch, as reported by the watcher process. */
export type WatchState = Pick<Watch, 'state' | 'detail' | 'files' | 'lastSyncAt' | 'polledEveryMs'>
/** A watch as stored; only the watcher process knows its current state. */
export type StoredWatch = Omit<Watch, keyof WatchState>

export const AddWatchBody = z.strictObject({
  knowledgeSpaceId: uuid,
  folder: localPath,
  ...watchRules,
  /** Delete the documents of files that were missing when the folder was on another disk. */
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
    summary: 'List the files of this machine that the documents of a space were made from; restricted to the operator.',
    params: SpaceParams,
    query: z.strictObject({
      root: localPath.optional(),
      filename: name.optional(),
      /** Continue after this filename. */
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
    summary: 'Record files of this machine that documents are made from; restricted to the operator.',
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
    summary: 'List the folders that this daemon watches; restricted to the operator.',
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
    summary: 'Watch a folder of this machine for a space, also after restarts; restricted to the operator.',
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
    summary: 'Stop watching a folder; its documents are kept. Restricted to the operator.',
    params: z.strictObject({ watchId: uuid }),
    ok: { 204: 'empty' },
    errors: [403, 404, 501],
    extension: true,
  }),
] as const
