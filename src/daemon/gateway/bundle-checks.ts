import { z } from 'zod'
import { BundleEnd, BundleManifest } from '../../contract/gateway/bundles.js'
import { EvidenceBundle, TraceStep } from '../../contract/gateway/queries.js'
import { RetrievalProfileBody } from '../../contract/gateway/retrieval-profile.js'
import { CreateSpaceBody } from '../../contract/gateway/spaces.js'
import { uuid } from '../../contract/primitives.js'
import type { BundleChecks, Checked } from '../../engine/bundles/checks.js'

const texts = z.array(z.string())
const { name, slug, description } = CreateSpaceBody.shape

/** Cells of a bundle that the contract describes, by `table.column`. */
const CELLS: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['spaces.name', name],
  ['spaces.slug', slug],
  ['spaces.description', description],
  ['retrieval_profiles.body', RetrievalProfileBody],
  ['sources.permission_scope', texts],
  ['golden_questions.expected_evidence', z.array(uuid)],
  ['golden_questions.tags', texts],
  ['nodes.section', texts],
  ['nodes.elements', texts],
  ['traces.steps', z.array(TraceStep)],
  ['evidence_bundles.body', EvidenceBundle],
])

/** What the engine asks of the contract while it reads a bundle. */
export const BUNDLE_CHECKS: BundleChecks = {
  manifest: (value) => parsed(BundleManifest, value),
  end: (value) => parsed(BundleEnd, value),
  cells: new Set(CELLS.keys()),
  cell(cell, value) {
    const schema = CELLS.get(cell)
    const found = schema === undefined ? undefined : parsed(schema, value)
    return found !== undefined && 'problem' in found ? `does not fit: ${found.problem}` : undefined
  },
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): Checked<T> {
  const result = schema.safeParse(value)
  if (result.success) return { value: result.data }
  const [issue] = result.error.issues
  const place = issue?.path.map(String).join('.') ?? ''
  return { problem: `${place === '' ? '' : `${place}: `}${issue?.message ?? 'it has another shape'}`.slice(0, 300) }
}
