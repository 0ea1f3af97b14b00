import { basename, resolve } from 'node:path'
import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { CliError, usageError } from './cli-error.js'
import { resolveSpace, type SpaceRef } from './resolve.js'
import { toSlug } from './resources.js'

/** Derives the name of a new space: that of the folder or file, if it contains letters or digits. */
export function toSpaceName(path: string): string {
  const name = basename(resolve(path))
  return toSlug(name) === undefined || path === '-' ? 'documents' : name
}

/** Finds a space by slug or name, or creates it: `created` is true. @throws CliError exit 2 without a usable name */
export async function ensureSpace(
  client: Client,
  name: string | undefined,
): Promise<SpaceRef & { slug: string; created: boolean }> {
  if (name === undefined) throw usageError('no space given', 'use `--space SLUG`')
  try {
    const existing = await resolveSpace(client, name)
    return { ...existing, slug: existing.space?.slug ?? name, created: false }
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'not-found') throw error
  }
  const slug = toSlug(name)
  if (slug === undefined) throw usageError(`the name ${JSON.stringify(name)} cannot be converted to a slug`)
  try {
    const space = await client.request('POST /knowledge-spaces', { body: { name, slug } })
    return { id: space.id, space, slug, created: true }
  } catch (error) {
    // Another client created it meanwhile, or the name's slug exists already.
    if (!(error instanceof ApiError) || error.code !== 'slug-taken') throw error
    return { ...(await resolveSpace(client, slug)), slug, created: false }
  }
}
