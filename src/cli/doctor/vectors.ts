import type { Client } from '../../client/client.js'
import { paginate } from '../../client/pages.js'
import type { KnowledgeSpaceStatus } from '../../contract/gateway/space-status.js'
import { LIMITS } from '../../contract/limits.js'
import { pluralize } from '../../lib/text/pluralize.js'
import type { CheckFinding } from '../json-output/machine.js'

/** Reports spaces with missing vectors: their documents are found by text search only. */
export async function* checkSpaceVectors(client: Client): AsyncGenerator<CheckFinding> {
  const spaces = paginate((query) => client.request('GET /knowledge-spaces', { query }), {
    pageSize: LIMITS.page.cap,
  })
  for await (const { id, slug } of spaces) {
    const { index } = await client.request('GET /knowledge-spaces/{id}/status', { path: { id } })
    if (index.missingVectors !== undefined) yield toFinding(slug, index.missingVectors)
  }
}

type MissingVectors = NonNullable<KnowledgeSpaceStatus['index']['missingVectors']>

function toFinding(slug: string, missing: MissingVectors): CheckFinding {
  const check = `vectors of ${slug}`
  const found = formatMissingVectors(missing)
  if (missing.permanent === true)
    return { check, state: 'failed', found, fix: 'fix the named cause; text search still works' }
  if (missing.passages === 0) {
    const fix = 'text search finds them; `maxChars` of the model truncates texts that are too long for it'
    return { check, state: 'warning', found, fix }
  }
  return { check, state: 'warning', found, fix: 'no action needed: they are computed automatically' }
}

/** `12 passages in 3 documents without a vector: provider "x" is limiting the rate of calls (429)` */
export function formatMissingVectors({ passages, refused, error, nextAttemptAt, documents }: MissingVectors): string {
  const parts: string[] = []
  if (passages > 0) {
    const next = nextAttemptAt === undefined ? '' : `; next attempt at ${nextAttemptAt}`
    const reason = error === undefined ? '' : `: ${error}${next}`
    parts.push(
      `${pluralize(passages, 'passage')} in ${pluralize(documents.count, 'document')} without a vector${reason}`,
    )
  }
  if (refused > 0) parts.push(`${pluralize(refused, 'passage')} refused by the model`)
  return parts.join('; ')
}
