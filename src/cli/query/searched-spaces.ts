import { isRecord, toNonEmptyString } from '../../lib/json/values.js'

/** A space of an answer over several. */
interface ShownSpace {
  slug: string
  passages: number
  /** Why it contributes nothing, although it was searched. */
  problem: string | undefined
  traceId: string | undefined
}

/** Parses the spaces of an answer or search over several; empty for one space. */
export function parseSearchedSpaces({ spaces }: Record<string, unknown>): ShownSpace[] {
  return (Array.isArray(spaces) ? spaces.filter(isRecord) : []).map((space) => ({
    slug: toNonEmptyString(space.slug) ?? '?',
    passages: typeof space.passages === 'number' ? space.passages : 0,
    // A failure is one of the degradations.
    problem: space.mode === undefined ? undefined : toNonEmptyString(space.problem),
    traceId: toNonEmptyString(space.traceId),
  }))
}

/** `2 of 3 spaces`; undefined for an answer from one space. */
export function formatSpaceCount(spaces: readonly ShownSpace[]): string | undefined {
  if (spaces.length === 0) return undefined
  return `${spaces.filter(({ passages }) => passages > 0).length} of ${spaces.length} spaces`
}

/** `notes: the space has no searchable documents`, for each such space. */
export function listSpaceProblems(spaces: readonly ShownSpace[]): string[] {
  return spaces.flatMap(({ slug, problem }) => (problem === undefined ? [] : [`${slug}: ${problem}`]))
}
