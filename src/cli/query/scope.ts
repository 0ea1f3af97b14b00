import type { Client } from '../../client/client.js'
import type { DocumentFilter } from '../../contract/gateway/document-filter.js'
import { LIMITS } from '../../contract/limits.js'
import { isUuid } from '../../lib/ids.js'
import { isPathPattern } from '../../lib/text/path-pattern.js'
import { usageError } from '../cli-error.js'
import { resolveDocuments, resolveId } from '../resolve.js'

/** The spaces of a request: one by its id, several, or all if no id is given. */
export type QuestionSpaces = { knowledgeSpaceId: string } | { knowledgeSpaceIds?: string[] }

/** @param ids undefined for all spaces */
export function toQuestionSpaces(ids: readonly string[] | undefined): QuestionSpaces {
  const [only, second] = ids ?? []
  if (only !== undefined && second === undefined) return { knowledgeSpaceId: only }
  if (ids !== undefined && ids.length > LIMITS.querySpaces.named)
    throw usageError(
      `${ids.length} spaces were given, the maximum is ${LIMITS.querySpaces.named}`,
      '`--all-spaces` uses every space',
    )
  return ids === undefined ? {} : { knowledgeSpaceIds: [...ids] }
}

/** The documents of a request. */
interface DocumentScope {
  activeDocumentIds?: string[]
  filter?: DocumentFilter
}

/**
 * Converts the values of `--doc` and the filter flags. Names in one space are resolved here, so that a wrong one gets a
 * suggestion; patterns, and names in several spaces, are matched by the service.
 *
 * @throws CliError exit 2 for ids next to patterns, exit 5 for an unknown document
 */
export async function toDocumentScope(
  client: Client,
  spaces: QuestionSpaces,
  { names, filter }: { names: readonly string[] | undefined; filter: DocumentFilter | undefined },
  cacheDir: string,
): Promise<DocumentScope> {
  const rest = filter === undefined ? {} : { filter }
  if (names === undefined) return rest
  if ('knowledgeSpaceId' in spaces && !names.some(isPathPattern))
    return { ...rest, activeDocumentIds: await resolveDocuments(client, spaces.knowledgeSpaceId, names, cacheDir) }
  const isId = (name: string) => isUuid(name) || /^#[0-9a-f]{8}$/i.test(name)
  const paths = names.filter((name) => !isId(name))
  if (paths.length === 0)
    return { ...rest, activeDocumentIds: names.map((name) => resolveId('document', name, cacheDir)) }
  if (paths.length < names.length)
    throw usageError('--doc takes either ids or paths here, received both', 'name all documents by their paths')
  return { filter: { ...filter, paths } }
}
