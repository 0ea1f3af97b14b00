import type { KnowledgeOverview } from '../../../../contract/chat/application.js'
import type { Caller } from '../../../base/caller.js'
import type { Read } from '../../../store/program.js'
import { findSpaceOrDeleting } from '../../../store/rows/spaces.js'
import { countReadableDocuments } from '../../rows/chat/overview.js'

/** What an application answers from: its spaces that are not deleted, as its owner may read them. */
export function* describeSpaces(caller: Caller, spaceIds: readonly string[]): Read<KnowledgeOverview[]> {
  const spaces: KnowledgeOverview[] = []
  for (const id of spaceIds) {
    const space = yield* findSpaceOrDeleting(caller.tenant, id)
    if (space === undefined || space.deleted_at !== null) continue
    const documents = yield* countReadableDocuments(space.key, caller)
    const changed = documents === 0 ? {} : { updated_at: Math.floor(space.published_at / 1000) }
    spaces.push({ name: space.name, documents, ...changed })
  }
  return spaces
}

/**
 * States what an application answers from: `Answers from Handbook (2 documents); newest change 2026-11-29.`
 *
 * @param isVisitor whether names of spaces are left out
 * @returns empty without spaces
 */
export function formatOverview(spaces: readonly KnowledgeOverview[], isVisitor: boolean): string {
  if (spaces.length === 0) return ''
  const total = spaces.reduce((sum, { documents }) => sum + documents, 0)
  const names = spaces.map(({ name = '', documents }) => `${name} (${formatCount(documents)})`)
  const newest = Math.max(...spaces.map(({ updated_at = 0 }) => updated_at))
  const change = newest === 0 ? '' : `; newest change ${new Date(newest * 1000).toISOString().slice(0, 10)}`
  return `Answers from ${isVisitor ? formatCount(total) : LIST_FORMAT.format(names)}${change}.`
}

const LIST_FORMAT = new Intl.ListFormat('en-GB')

function formatCount(documents: number): string {
  return `${documents.toLocaleString('en-US')} ${documents === 1 ? 'document' : 'documents'}`
}
