import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '../client/client.js'
import { paginate } from '../client/pages.js'
import { usageError } from './cli-error.js'
import type { IngestRecord } from './json-output/documents.js'
import type { ShownEvidence } from './query/evidence.js'
import { toSlug } from './resources.js'
import { quoteShellWord } from './shell-word.js'
import { ttyLine } from './terminal.js'

/** The files, space and question of a quickstart. */
export interface QuickstartPlan {
  paths: string[]
  slug: string
  /** Undefined: derived from the documents. */
  question: string | undefined
}

const DOCUMENTATION_QUESTION = 'How long are answer traces kept?'

/**
 * Plans a quickstart with a folder or file; without a path, with the documentation of this program.
 *
 * @param space slug; by default derived from the path
 */
export function makeQuickstartPlan(path: string | undefined, space: string | undefined): QuickstartPlan {
  if (path !== undefined) {
    const slug = space ?? toSlug(basename(resolve(path)).replace(/\.[A-Za-z0-9]{1,5}$/, '')) ?? 'quickstart'
    return { paths: [path], slug, question: undefined }
  }
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const paths = ['README.md', 'docs'].map((name) => join(root, name)).filter((file) => existsSync(file))
  if (paths.length === 0)
    throw usageError('this installation has no documentation', 'name a folder: `ks quickstart ./docs`')
  return { paths, slug: space ?? 'quickstart', question: DOCUMENTATION_QUESTION }
}

/** Makes a question that the largest document of the space should answer. */
export async function makeQuestion(client: Client, spaceId: string): Promise<string | undefined> {
  const documents = paginate(
    (query) => client.request('GET /knowledge-spaces/{id}/documents', { path: { id: spaceId }, query }),
    { pageSize: 100, limit: 500 },
  )
  let largest: { id: string; filename: string; sizeBytes: number } | undefined
  for await (const document of documents) {
    if (document.parserStatus === 'parsed' && document.sizeBytes > (largest?.sizeBytes ?? 0)) largest = document
  }
  if (largest === undefined) return undefined
  const outline = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
    path: { id: spaceId, documentId: largest.id },
  })
  const title = outline.nodes[0]?.title ?? basename(largest.filename).replace(/\.[^.]+$/, '')
  return `What is ${ttyLine(title)} about?`
}

export function formatIngestedDocuments(records: readonly IngestRecord[]): string {
  const count = (status: IngestRecord['status']) => records.filter((record) => record.status === status).length
  const added = count('published') + count('queued')
  const parts = [
    added > 0 ? `${added} added` : 'nothing was added',
    ...(count('unchanged') > 0 ? [`${count('unchanged')} unchanged`] : []),
    ...(count('failed') > 0 ? [`${count('failed')} not ingested`] : []),
  ]
  return parts.join(', ')
}

export function listNextSteps(slug: string, evidence: readonly ShownEvidence[]): string[] {
  const [first] = evidence
  // In a fresh clone `ks` is not on the PATH yet.
  const ks = process.env.npm_lifecycle_event === 'quickstart' ? 'node bin/ks.js' : 'ks'
  return [
    ...(first === undefined
      ? []
      : [`${ks} fs cat ${quoteShellWord(`/sources/uploads/${first.filename}`)} --space ${slug}`]),
    `${ks} query "your question" --space ${slug}`,
    `${ks} ingest ./your-folder --space ${slug} --wait`,
    `${ks} fs tree /knowledge --space ${slug}`,
  ]
}
