import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { count, slug, uuid } from '../primitives.js'
import { route } from '../route.js'

const sentence = z.string().max(2000)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 lowercase hexadecimal digits')

/** `manifest.json`, the first file of a bundle. */
export const BundleManifest = z.strictObject({
  format: z.literal('knowledge-spaces-bundle'),
  /** Number of the migration that defines the columns of the rows. */
  schema: z.int().min(1),
  spaces: z
    .array(z.strictObject({ fingerprint: sentence, headRevision: count, id: uuid, slug: sentence }))
    .min(1)
    .max(LIMITS.bundleSpaces),
  version: z.int().min(1),
})
export type BundleManifest = z.output<typeof BundleManifest>

/** `end.json`, the last file: counts of the bundle's content, and the SHA-256 of all bytes before this file. */
export const BundleEnd = z.strictObject({ objects: count, rows: z.record(z.string(), count), sha256 })
export type BundleEnd = z.output<typeof BundleEnd>

const ImportedSpace = z.strictObject({
  id: uuid,
  slug: z.string(),
  name: z.string(),
  documents: count,
  nodes: count,
  headRevision: count,
  /** Passages without a vector in the bundle: the provider of the space is called for them. */
  withoutVectors: count,
  /** Whether this daemon has the embedding model of the space; if not, questions only search the text. */
  embeddingConfigured: z.boolean(),
})

export const ImportedBundle = z
  .strictObject({ spaces: z.array(ImportedSpace), objects: count, bytes: count })
  .meta({ id: 'ImportedBundle' })
export type ImportedBundle = z.output<typeof ImportedBundle>

/** Ids of spaces, separated by commas. */
const spaceIds = z
  .string()
  .regex(/^[0-9a-f-]{36}(?:,[0-9a-f-]{36}){0,99}$/, 'ids of at most 100 spaces, separated by commas')

export const bundlesRoutes = [
  route({
    id: 'exportBundle',
    method: 'GET',
    path: '/knowledge-spaces/bundle',
    scope: 'read',
    only: 'every-scope',
    summary: 'Export spaces as one file for import into another store; requires every scope.',
    description:
      'The file is a tar archive with a consistent snapshot of the spaces, including traces and workspaces of other subjects. The token therefore requires the scope `knowledge-spaces:*`, and no source may exclude its subject. The last file is `end.json`; import rejects a bundle without it as incomplete.',
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
    summary: 'Import all spaces of a bundle, or none on failure; requires every scope.',
    description:
      'Ids are kept. With `as`, the space becomes a copy: it and its documents, passages, sources, questions and traces get new ids, and the original may be in the same store. The tenant is taken from the token. Nothing is visible before the complete bundle is read and checked.',
    query: z.strictObject({
      /** Replaces the slug of the space; only for a bundle of one space. */
      slug: slug.optional(),
      /** Slug of a copy of the space, which gets new ids; only for a bundle of one space, and not with `slug`. */
      as: slug.optional(),
    }),
    multipart: { file: { name: 'file', many: false }, fields: z.strictObject({}), maxBytes: LIMITS.bundleBytes },
    ok: { 200: ImportedBundle },
    errors: [400, 403, 409, 413, 429, 503],
    extension: true,
  }),
] as const
