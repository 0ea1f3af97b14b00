import { z } from 'zod'
import { BundleEnd, BundleManifest } from '../../contract/gateway/bundles.js'
import { MultimodalItem, ParseElement, SectionFields } from '../../contract/gateway/document-parts.js'
import { ExpectedAnswer } from '../../contract/gateway/golden-questions.js'
import { EvidenceBundle, TraceStep } from '../../contract/gateway/queries.js'
import { RetrievalProfileBody } from '../../contract/gateway/retrieval-profile.js'
import { CreateSpaceBody } from '../../contract/gateway/spaces.js'
import { count, uuid } from '../../contract/primitives.js'
import type { StoredPart } from '../../engine/readers/index.js'
import type { BundleCheckResult, BundleChecks } from '../../engine/upkeep/index.js'

/** A list of texts of any length. A wrong list is one problem, not one per entry. */
const texts = z.custom<string[]>(
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  'must be a list of texts',
)
const { name, slug, description } = CreateSpaceBody.shape

/** Cells of a bundle that the contract describes, by `table.column`. */
const CELL_SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['spaces.name', name],
  ['spaces.slug', slug],
  ['spaces.description', description],
  ['retrieval_profiles.body', RetrievalProfileBody],
  ['sources.permission_scope', texts],
  ['golden_questions.expected_evidence', z.array(uuid)],
  ['golden_questions.expected_answer', ExpectedAnswer],
  ['golden_questions.tags', texts],
  ['nodes.section', texts],
  ['nodes.elements', texts],
  ['traces.steps', z.array(TraceStep)],
  ['evidence_bundles.body', EvidenceBundle],
])

/** An item as stored, without the fields that replies add. */
const StoredItem = MultimodalItem.omit({ id: true, assetRef: true, enrichment: true }).extend({
  captionElementId: z.string().optional(),
  asset: z.strictObject({ contentType: z.string(), sha256: z.string(), size: count }).optional(),
  externalUri: z.string().optional(),
  drawn: z.literal(true).optional(),
  sectionPath: texts,
})

const PART_SCHEMAS: Readonly<Record<StoredPart, z.ZodType>> = {
  artifact: ParseElement.extend({ sectionPath: texts }),
  outline: SectionFields.extend({ sectionPath: texts, sourceElementIds: texts }),
  items: StoredItem,
}

/** Checks against the contract for the engine's bundle reader. */
export const BUNDLE_CHECKS: BundleChecks = {
  manifest: (value) => checkValue(BundleManifest, value),
  end: (value) => checkValue(BundleEnd, value),
  cells: new Set(CELL_SCHEMAS.keys()),
  part: (part, value) => getProblem(checkValue(PART_SCHEMAS[part], value)),
  cell(cell, value) {
    const schema = CELL_SCHEMAS.get(cell)
    const problem = schema === undefined ? undefined : getProblem(checkValue(schema, value))
    return problem === undefined ? undefined : `does not fit: ${problem}`
  },
}

function getProblem(result: BundleCheckResult<unknown>): string | undefined {
  return 'problem' in result ? result.problem : undefined
}

function checkValue<T>(schema: z.ZodType<T>, value: unknown): BundleCheckResult<T> {
  const result = schema.safeParse(value)
  if (result.success) return { value: result.data }
  const [issue] = result.error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  return {
    problem: `${path === '' ? '' : `${path}: `}${issue?.message ?? 'it has an unexpected shape'}`.slice(0, 300),
  }
}
