import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { CliError, usageError } from './cli-error.js'
import { resolveSpace, type SpaceRef } from './resolve.js'
import { slugOf } from './resources.js'

/** The space of a slug or name; it is made when it does not exist. `created` says whether it was. */
export async function ensureSpace(
  client: Client,
  name: string | undefined,
): Promise<SpaceRef & { slug: string; created: boolean }> {
  if (name === undefined) throw usageError('no space is named', 'give `--space SLUG`')
  try {
    const found = await resolveSpace(client, name)
    return { ...found, slug: found.space?.slug ?? name, created: false }
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'not-found') throw error
  }
  const slug = slugOf(name)
  if (slug === undefined) throw usageError(`no slug can be made of the name ${JSON.stringify(name)}`)
  try {
    const space = await client.request('POST /knowledge-spaces', { body: { name, slug } })
    return { id: space.id, space, slug, created: true }
  } catch (error) {
    // Somebody else made it meanwhile, or the name's slug exists already.
    if (!(error instanceof ApiError) || error.code !== 'slug-taken') throw error
    return { ...(await resolveSpace(client, slug)), slug, created: false }
  }
}
