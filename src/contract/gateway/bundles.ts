import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { count, slug, uuid } from '../primitives.js'
import { route } from '../route.js'

const sentence = z.string().max(2000)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 lowercase hexadecimal digits')

/** `manifest.json`, the first file of a bundle. */
export const BundleManifest = z.strictObject({
  format: z.literal('knowledge-spaces-bundle'),
  /** number of the migration whose columns the rows have */
  schema: z.int().min(1),
  spaces: z
    .array(z.strictObject({ fingerprint: sentence, headRevision: count, id: uuid, slug: sentence }))
    .min(1)
    .max(LIMITS.bundleSpaces),
  version: z.int().min(1),
})
export type BundleManifest = z.output<typeof BundleManifest>

/** `end.json`, the last file: how much is in the bundle, and the SHA-256 of all bytes before this file. */
export const BundleEnd = z.strictObject({ objects: count, rows: z.record(z.string(), count), sha256 })
export type BundleEnd = z.output<typeof BundleEnd>

const ImportedSpace = z.strictObject({
  id: uuid,
  slug: z.string(),
  name: z.string(),
  documents: count,
  nodes: count,
  headRevision: count,
  /** passages that came without a vector: the provider of the space is asked for them */
  withoutVectors: count,
  /** whether this daemon has the embedding model of the space; where not, questions find words alone */
  embeddingConfigured: z.boolean(),
})

export const ImportedBundle = z
  .strictObject({ spaces: z.array(ImportedSpace), objects: count, bytes: count })
  .meta({ id: 'ImportedBundle' })
export type ImportedBundle = z.output<typeof ImportedBundle>

/** Ids of spaces, with commas between them. */
const spaceIds = z
  .string()
  .regex(/^[0-9a-f-]{36}(?:,[0-9a-f-]{36}){0,99}$/, 'ids of at most 100 spaces, with commas between them')

export const bundlesRoutes = [
  route({
    id: 'exportBundle',
    method: 'GET',
    path: '/knowledge-spaces/bundle',
    scope: 'read',
    only: 'every-scope',
    summary: 'Take spaces out as one file, which another store can import; needs every scope.',
    description:
      'The file is a tar archive. It holds all of the spaces as of one moment, also traces and workspaces of others, so the token needs the scope `knowledge-spaces:*`, and no source may leave its subject out. Its last file is `end.json`; one that breaks off before is not whole, and is refused by an import.',
    query: z.strictObject({ ids: spaceIds }),
    ok: { 200: 'binary' },
    binary: ['application/x-tar'],
    streamed: true,
    errors: [400, 403, 404, 429],
    extension: true,
  }),
  route({
    id: 'importBundle',
    method: 'POST',
    path: '/knowledge-spaces/bundle',
    scope: 'write',
    only: 'every-scope',
    summary: 'Import the spaces of a bundle, all of them or nothing; needs every scope.',
    description:
      'Ids are kept, unless `as` asks for a copy: then the space, its documents, passages, sources, questions and traces get new ids, and the original may be in the same store. The tenant is that of the token. Nothing is visible before the complete bundle is read and checked.',
    query: z.strictObject({
      /** slug of the space in place of its own; only for a bundle of one space */
      slug: slug.optional(),
      /** slug of a copy of the space, which gets new ids; only for a bundle of one space, and not with slug */
      as: slug.optional(),
    }),
    multipart: { file: { name: 'file', many: false }, fields: z.strictObject({}), maxBytes: LIMITS.bundleBytes },
    ok: { 200: ImportedBundle },
    errors: [400, 403, 409, 413, 429, 503],
    extension: true,
  }),
] as const
